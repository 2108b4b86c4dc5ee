// Fabrics whose paths go up and then down: no circle of buffers can be among them.
#pragma once

#include <vector>

#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"

namespace railyard::routing {

// By node: how many links the nearest host or trunk is away; -1: none is.
std::vector<int> hops_to_edge(const Graph& graph);

// Whether every path to hosts leads away from the edge of the fabric first and then towards it, each link changing the
// hops to the edge by one (valley-free: Gao, Rexford, SIGMETRICS 2000). The links of such paths have an order: up, by
// rising hops, and then down, by falling ones. `false` says nothing: there may be no circle all the same.
bool goes_up_then_down(const Graph& graph, const Routes& routes);

}  // namespace railyard::routing
