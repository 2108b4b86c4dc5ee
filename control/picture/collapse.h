// Which nodes of a large lab are drawn as one box.
#pragma once

#include <cstddef>
#include <vector>

#include "control/routing/graph.h"

namespace railyard::picture {

// Nodes that share a box, as indices into Lab::nodes, in order; never empty, all of one tier.
using Group = std::vector<std::size_t>;

// Every node in one group; groups in the order of their first nodes. The first of these that makes a picture of
// readable size:
//   1. each node by itself
//   2. hosts with equal links to the same switches together
//   3. switches without hosts and with equal links to the same neighbours too
//   4. nodes that differ in nothing but whom they are linked to among their like
//   5. all nodes of a tier together
// `tiers` is of the graph's nodes.
std::vector<Group> collapse(const routing::Graph& graph, const std::vector<int>& tiers);

// The second of these, whatever its size.
std::vector<Group> hosts_together(const routing::Graph& graph, const std::vector<int>& tiers);

}  // namespace railyard::picture
