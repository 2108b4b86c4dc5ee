// What of a lab's settings keeps UET from doing what it could, though nothing is wrong with them.
#pragma once

#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::build {

// One sentence each, with the keys that it is about; nothing: there is nothing to say.
std::vector<std::string> uet_notes(const BuiltLab& lab);

}  // namespace railyard::build
