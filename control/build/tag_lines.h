// What `railyard check` says of 802.1Q tags where switches trust them.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::build {

// Which built-in NICs tag their frames, and how: a line for each kind.
std::vector<std::string> tag_lines(const spec::Lab& lab);

}  // namespace railyard::build
