// What a lab's path policies can cost, though nothing is wrong with them.
#pragma once

#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::build {

// One warning for each class that sprays in a fixed order: alike senders can fall in step, and flows collide for ever.
std::vector<std::string> path_notes(BuiltLab& lab);

}  // namespace railyard::build
