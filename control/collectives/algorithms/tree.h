// Trees between groups of ranks and chains within them, as NCCL has them between nodes: what `tree` and
// `hierarchical-tree` share.
#pragma once

#include <cstdint>
#include <vector>

#include "control/collectives/algorithm.h"

namespace railyard::collectives {

// `group`: by rank; empty: each rank is a group of its own. Each NIC of a group is the head of its chain for a part of
// the data, so that all NICs of a host have their share of what goes between hosts.
void tree_all_reduce(Plan& plan, Range range, const std::vector<std::uint32_t>& group);
void tree_broadcast(Plan& plan, Range range, const std::vector<std::uint32_t>& group);
void tree_reduce(Plan& plan, Range range, const std::vector<std::uint32_t>& group);
// Algorithm::transfers of all.
double tree_transfers(const Layout& layout, double octets);

}  // namespace railyard::collectives
