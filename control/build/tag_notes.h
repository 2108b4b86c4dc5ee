// What `railyard check` says of 802.1Q tags where switches trust them.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::build {

// Which built-in NICs tag their frames, and how: a line for each kind.
std::vector<std::string> tag_lines(const spec::Lab& lab);

// Built-in NICs whose frames carry no PCP though the switch at the other end of the link trusts it; ports between
// switches that take the tag off. Nothing: the PCP reaches every switch that trusts it.
std::vector<std::string> tag_warnings(const spec::Lab& lab);

}  // namespace railyard::build
