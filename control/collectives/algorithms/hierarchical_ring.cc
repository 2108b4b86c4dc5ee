#include <map>

#include "control/collectives/algorithms/hierarchical.h"
#include "control/collectives/algorithms/ring.h"
#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// Within each group, then the same part of all groups, then within each group again.
void all_reduce(Plan& plan, Range range) {
  std::map<std::uint32_t, Ranks> groups;
  for (std::uint32_t r = 0; r < plan.ranks(); ++r) groups[plan.shape().group[r]].push_back(r);
  const std::size_t members = groups.begin()->second.size();
  const Ranges parts = plan.split(range, members);
  for (const auto& [id, who] : groups) ring_reduce_scatter(plan, who, parts);
  for (std::size_t j = 0; j < members; ++j) {
    Ranks across;
    for (const auto& [id, who] : groups) across.push_back(who[j]);
    const Ranges pieces = plan.split(parts[j], across.size());
    ring_reduce_scatter(plan, across, pieces);
    ring_all_gather(plan, across, pieces);
  }
  for (const auto& [id, who] : groups) ring_all_gather(plan, who, parts);
}

}  // namespace

constinit const Algorithm kHierarchicalRing{
    .name = "hierarchical-ring",
    .also = "hierarchical",
    .help =
        "a ring within each leaf, or each host with a scale-up network, then a ring across them, then a ring within",
    .all_reduce = all_reduce,
    .refuse = refuse_unequal_groups,
    .transfers = all_pairs_twice,
};

}  // namespace railyard::collectives
