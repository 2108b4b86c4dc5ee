#include "control/routing/bgp/as_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "control/routing/shortest_paths.h"

namespace railyard::routing::bgp {
namespace {

constexpr AsNumber kFirst = 4'200'000'001;
constexpr int kNoTier = -1;

// Hops to the nearest switch with hosts or trunks; kNoTier for all but switches.
std::vector<int> tiers(const Graph& graph) {
  std::vector<int> tier(graph.size(), kNoTier);
  std::vector<std::size_t> next;
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (graph.is_switch(n) &&
        std::ranges::any_of(graph.edges(n), [&](const auto& e) { return !graph.is_switch(e.neighbour); })) {
      tier[n] = 0;
      next.push_back(n);
    }
  for (std::size_t i = 0; i < next.size(); ++i)
    for (const Graph::Edge& e : graph.edges(next[i]))
      if (graph.is_switch(e.neighbour) && tier[e.neighbour] == kNoTier) {
        tier[e.neighbour] = tier[next[i]] + 1;
        next.push_back(e.neighbour);
      }
  return tier;
}

class Groups {
 public:
  explicit Groups(std::size_t size) : of_(size) { std::iota(of_.begin(), of_.end(), std::size_t{0}); }
  std::size_t of(std::size_t n) {
    while (of_[n] != n) n = of_[n] = of_[of_[n]];
    return n;
  }
  // The smaller number stands for both.
  void join(std::size_t a, std::size_t b) {
    const auto [least, most] = std::minmax({of(a), of(b)});
    of_[most] = least;
  }

 private:
  std::vector<std::size_t> of_;
};

// By node, the first switch of its AS.
std::vector<std::size_t> per_tier(const Graph& graph, const std::vector<int>& tier) {
  Groups groups(graph.size());
  const int top = *std::ranges::max_element(tier);
  for (int t = 1; t <= top; ++t) {
    std::map<std::size_t, std::size_t> above;  // by AS below: one of those that meet there
    for (std::size_t n = 0; n < graph.size(); ++n) {
      if (tier[n] != t) continue;
      for (const Graph::Edge& e : graph.edges(n))
        if (tier[e.neighbour] == t - 1) groups.join(above.try_emplace(groups.of(e.neighbour), n).first->second, n);
    }
  }
  std::vector<std::size_t> first(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) first[n] = groups.of(n);
  return first;
}

// Whether links are between neighbouring tiers only, and each switch with hosts reaches each other one as soon by going
// up first and then down as by any path.
bool goes_up_then_down(const Graph& graph, const std::vector<int>& tier) {
  for (std::size_t n = 0; n < graph.size(); ++n)
    for (const Graph::Edge& e : graph.edges(n))
      if (tier[n] != kNoTier && tier[e.neighbour] != kNoTier && std::abs(tier[n] - tier[e.neighbour]) != 1)
        return false;
  constexpr int kFar = 1 << 20;
  std::vector<int> down(graph.size());  // hops to the target by links that lead down only
  std::vector<int> best(graph.size());
  std::vector<std::size_t> by_tier;
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (tier[n] != kNoTier) by_tier.push_back(n);
  std::ranges::stable_sort(by_tier, {}, [&](std::size_t n) { return tier[n]; });
  PathsTo shortest(graph);
  for (std::size_t to = 0; to < graph.size(); ++to) {
    if (tier[to] != 0) continue;
    std::ranges::fill(down, kFar);
    down[to] = 0;
    for (const std::size_t n : by_tier)
      for (const Graph::Edge& e : graph.edges(n))
        if (tier[e.neighbour] == tier[n] - 1) down[n] = std::min(down[n], down[e.neighbour] + 1);
    best = down;
    for (auto n = by_tier.rbegin(); n != by_tier.rend(); ++n)
      for (const Graph::Edge& e : graph.edges(*n))
        if (tier[e.neighbour] == tier[*n] + 1) best[*n] = std::min(best[*n], best[e.neighbour] + 1);
    shortest.find(Origin{{}, {{to, {}}}});
    for (const std::size_t n : by_tier)
      if (shortest.distance(n) != PathsTo::kUnreached && shortest.distance(n) != best[n]) return false;
  }
  return true;
}

}  // namespace

std::vector<AsNumber> as_numbers(const Graph& graph, spec::AsScheme scheme) {
  const std::vector<int> tier = tiers(graph);
  if (scheme == spec::AsScheme::kAuto)
    scheme = goes_up_then_down(graph, tier) ? spec::AsScheme::kPerTier : spec::AsScheme::kPerSwitch;
  std::vector<std::size_t> first(graph.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  if (scheme == spec::AsScheme::kPerTier) first = per_tier(graph, tier);
  std::vector<AsNumber> out(graph.size(), 0);
  AsNumber next = kFirst;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    out[n] = first[n] == n ? next++ : out[first[n]];
  }
  return out;
}

}  // namespace railyard::routing::bgp
