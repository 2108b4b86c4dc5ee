// Nodes that one site has to have together.
#pragma once

#include <cstddef>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::sites {

// By node: the number of its group, in the order in which the groups' first nodes stand in the lab. A host is in one group
// with all switches and hosts that it is linked to, a trunk with its switch; nodes of a rack are together, and hosts that
// share a scale-up network.
std::vector<std::size_t> groups_of(const spec::Lab& lab);

}  // namespace railyard::sites
