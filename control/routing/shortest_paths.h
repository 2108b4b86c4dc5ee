// Routes for every switch: all shortest paths, as the next-hop groups that ECMP chooses from.
#pragma once

#include <memory>
#include <vector>

#include "control/routing/graph.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/switch/forwarding_table.h"

namespace railyard::routing {

struct Routes {
  std::vector<std::vector<Route>> by_node;  // empty for hosts
  std::shared_ptr<const FecTable> fecs;     // all prefixes of all of them
};

// Weights are for WCMP. Where a link of a group has one, they are those of the links (1 for those without); else a next
// hop is worth what can be carried through it: the rate of the link there, or, if that is less, the sum of what the
// neighbour's own next hops are worth (Zhou et al., EuroSys 2014, section 3).
//
// Hop counts are the metric, as in the usual BGP design of a Clos (RFC 7938). Hosts are leaves of the graph: nothing is
// routed through them. Addresses of the hosts behind one switch are aggregated to one prefix elsewhere, where that
// prefix covers nobody else's address. Networks behind trunks are where the trunk is; of several the nearest.
Routes shortest_paths(const Graph& graph);

}  // namespace railyard::routing
