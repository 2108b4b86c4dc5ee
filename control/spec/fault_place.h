// Where a fault is, and what that is in a lab.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/spec/spec.h"
#include "control/spec/value.h"

namespace railyard::spec {

// "leaf1", "spine*:2", "leaf1:3 out", "leaf1:3/5", "h1/3", "rail 2".
Parsed<FaultPlace> parse_fault_place(std::string_view text);
std::string format(const FaultPlace& place);

// "queue leaf1:3/3 depth > 200KiB", "queue leaf1:3/3 paused > 1ms".
Parsed<FaultTrigger> parse_fault_trigger(std::string_view text);
std::string format(const FaultTrigger& trigger);

// The nodes that a place names, and their ports that have a link and that it names; in the order of the lab.
std::vector<const NodeSpec*> nodes_at(const Lab& lab, const FaultPlace& place);
std::vector<PortName> ports_at(const Lab& lab, const FaultPlace& place);

}  // namespace railyard::spec
