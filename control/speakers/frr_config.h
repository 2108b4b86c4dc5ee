// The configuration of FRR that a switch with `control: frr` gets.
#pragma once

#include <string>

#include "control/speakers/speaker.h"
#include "control/spec/routing_spec.h"

namespace railyard::speakers {

// For all daemons of one switch, in the language of vtysh: eBGP over unnumbered interfaces (RFC 5549) with the switches
// at the other ends, BFD on each session, and static routes to the hosts, which BGP announces beside the loopbacks.
// BFD: as `routing` has it, in whole milliseconds and 10 at least, else with the defaults of FRR, 300 ms x 3.
std::string frr_config(const Speaker& speaker, const spec::RoutingSpec& routing);

}  // namespace railyard::speakers
