// Which AS each switch is.
#pragma once

#include <vector>

#include "control/routing/bgp/as_paths.h"
#include "control/routing/graph.h"
#include "control/spec/routing_spec.h"

namespace railyard::routing::bgp {

// By node, 0 for all but switches. Numbers count from 4200000001, of the private range (RFC 6996), in the order of
// the nodes.
//
// Per tier (RFC 7938, section 5.2.1): a switch with hosts has a number of its own; others share one with those of their
// tier that they meet in an AS below. A switch then refuses what another of its AS has passed on, and so no path goes
// down and up again.
std::vector<AsNumber> as_numbers(const Graph& graph, spec::AsScheme scheme);

}  // namespace railyard::routing::bgp
