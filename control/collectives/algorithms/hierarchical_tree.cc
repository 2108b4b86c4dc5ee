#include "control/collectives/algorithms/hierarchical.h"
#include "control/collectives/algorithms/tree.h"
#include "control/collectives/collective_plan.h"

namespace railyard::collectives {

constinit const Algorithm kHierarchicalTree{
    .name = "hierarchical-tree",
    .help = "a chain within each leaf, or each host with a scale-up network, and a double binary tree across them",
    .all_reduce = [](Plan& plan, Range range) { tree_all_reduce(plan, range, plan.shape().group); },
    .broadcast = [](Plan& plan, Range range) { tree_broadcast(plan, range, plan.shape().group); },
    .reduce = [](Plan& plan, Range range) { tree_reduce(plan, range, plan.shape().group); },
    .refuse = refuse_without_groups,
    .transfers = tree_transfers,
};

}  // namespace railyard::collectives
