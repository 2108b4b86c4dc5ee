#include "control/collectives/reduction.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "control/collectives/algorithms/groups.h"
#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

constexpr std::uint32_t kNone = ReductionNetwork::kNone;

// Breadth first from a switch: by switch, the next one towards it, and links.
struct Paths {
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> distance;  // kNone: not reached

  Paths(const ReductionNetwork& network, std::uint32_t from)
      : parent(network.neighbours.size(), kNone), distance(network.neighbours.size(), kNone) {
    distance[from] = 0;
    for (std::deque<std::uint32_t> next{from}; !next.empty(); next.pop_front())
      for (const std::uint32_t to : network.neighbours[next.front()]) {
        if (distance[to] != kNone) continue;
        distance[to] = distance[next.front()] + 1;
        parent[to] = next.front();
        next.push_back(to);
      }
  }
};

// Switches with a reducer that are the nearest to the farthest head; of those the ones that are the nearest to all together.
std::vector<std::uint32_t> roots(const ReductionNetwork& network, const std::set<std::uint32_t>& leaves) {
  std::vector<std::uint32_t> best;
  std::tuple<std::uint32_t, std::uint64_t> least{kNone, 0};
  for (std::uint32_t s = 0; s < network.neighbours.size(); ++s) {
    if (network.reducer[s] == kNone) continue;
    const Paths paths(network, s);
    std::uint32_t farthest = 0;
    std::uint64_t all = 0;
    for (const std::uint32_t leaf : leaves) {
      farthest = std::max(farthest, paths.distance[leaf]);
      all += paths.distance[leaf];
    }
    if (farthest == kNone) continue;
    const std::tuple now{farthest, all};
    if (now < least) best.clear();
    least = std::min(least, now);
    if (now == least) best.push_back(s);
  }
  return best;
}

}  // namespace

std::optional<ReductionTree> reduction_tree(const ReductionNetwork& network, const Ranks& heads, std::uint32_t which) {
  std::set<std::uint32_t> leaves;
  for (const std::uint32_t h : heads) {
    if (network.leaf[h] == kNone) return std::nullopt;
    leaves.insert(network.leaf[h]);
  }
  const std::vector<std::uint32_t> candidates = roots(network, leaves);
  if (candidates.empty()) return std::nullopt;
  const std::uint32_t top = candidates[which % candidates.size()];
  const Paths paths(network, top);
  const auto reducing = [&](std::uint32_t s) {
    while (network.reducer[s] == kNone) s = paths.parent[s];
    return s;
  };
  ReductionTree tree;
  tree.root = network.reducer[top];
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;  // by distance: switches below the root
  const auto add = [&](std::uint32_t s) {
    std::uint32_t level = 0;
    for (; s != top; s = reducing(paths.parent[s]), ++level) used.emplace(paths.distance[s], s);
    tree.depth = std::max(tree.depth, level);
  };
  for (const std::uint32_t h : heads) {
    const std::uint32_t s = reducing(network.leaf[h]);
    tree.of_head.push_back(network.reducer[s]);
    add(s);
  }
  for (const auto& [distance, s] : used)
    tree.down.push_back({network.reducer[s], network.reducer[reducing(paths.parent[s])]});
  return tree;
}

std::optional<std::string> reduction_problem(const CollectiveShape& shape, std::uint32_t ranks) {
  const Groups groups(shape, ranks, shape.host);
  if (groups.members.size() == 1) {
    if (shape.reduction.in_network(shape.host.front())) return std::nullopt;
    return "all ranks are in one scale-up network, which does not reduce; expected scale-up.reduces: true";
  }
  for (const Ranks& heads : groups.heads)
    if (!reduction_tree(shape.reduction, heads, 0)) return "there is no switch that reduces and that all ranks reach";
  return std::nullopt;
}

}  // namespace railyard::collectives
