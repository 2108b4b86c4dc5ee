#include "control/doctor/distances.h"

#include <algorithm>
#include <limits>

namespace railyard::doctor {

Distances::Distances(const Case& c) : case_(c) {
  constexpr double kFar = 500;  // ns
  is_far_ = std::ranges::any_of(c.ports(), [](const PortCase& p) { return p.propagation_ns > kFar; });
  if (!is_far_) return;
  for (const PortCase& p : c.ports())
    if (p.is_switch) switches_.try_emplace(p.node, switches_.size());
  edges_.resize(switches_.size());
  for (const PortCase& p : c.ports())
    if (p.is_switch && p.other != nullptr && p.other->is_switch)
      edges_[switches_.at(p.node)].push_back({switches_.at(p.other->node), p.propagation_ns});
}

// Breadth first: all ways with the fewest hops to a switch come from switches of the row before.
const std::vector<Way>& Distances::from(std::size_t node) {
  const auto [at, is_new] = known_.try_emplace(node);
  if (!is_new) return at->second;
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::vector<Way>& ways = at->second;
  ways.resize(edges_.size());
  std::vector<std::size_t> hops(edges_.size(), kNever);
  hops[node] = 0;
  std::vector<std::size_t> row{node};
  for (std::size_t hop = 1; !row.empty(); ++hop) {
    std::vector<std::size_t> next;
    for (const std::size_t here : row)
      for (const auto& [to, ns] : edges_[here]) {
        if (hops[to] < hop) continue;
        const Way way{ways[here].least + ns, ways[here].most + ns};
        if (hops[to] == kNever) {
          hops[to] = hop;
          ways[to] = way;
          next.push_back(to);
        } else {
          ways[to] = {std::min(ways[to].least, way.least), std::max(ways[to].most, way.most)};
        }
      }
    row = std::move(next);
  }
  return ways;
}

Way Distances::between(const std::string& source, const std::string& sink) {
  if (!is_far_) return {};
  const PortCase *const first = case_.before(source), *const last = case_.before(sink);
  if (first == nullptr || last == nullptr || !first->is_switch || !last->is_switch) return {};
  const Way inside = from(switches_.at(first->node))[switches_.at(last->node)];
  widest_ = std::max(widest_, inside.most - inside.least);
  const double ends = first->propagation_ns + last->propagation_ns;
  return {inside.least + ends, inside.most + ends};
}

}  // namespace railyard::doctor
