// A lab back to a fabric file.
#pragma once

#include <string>

#include "control/spec/spec.h"

namespace railyard::spec {

// The expanded form: every profile, node, link and address, and no preset. parse() makes an equal lab of it.
std::string to_yaml(const Lab& lab);

}  // namespace railyard::spec
