// Nodes that nothing tells apart but their names.
#pragma once

#include <cstddef>
#include <vector>

#include "control/routing/graph.h"

namespace railyard::lint {

// By node: the number of its kind. Nodes of one kind have the same settings, and links with the same settings to as many
// nodes of each other kind: colour refinement (Weisfeiler and Leman 1968). Nodes with settings of their own (ports, VLANs,
// agents, routing software, coordinates) are each of a kind of its own.
std::vector<std::size_t> kinds_of_nodes(const routing::Graph& graph);

}  // namespace railyard::lint
