#include "control/routing/detours.h"

#include <algorithm>
#include <limits>

namespace railyard::routing {

bool Detours::wanted(const Graph& graph) {
  return graph.order().order() == spec::PathOrder::kGroups &&
         std::ranges::any_of(graph.lab().qos, [](const auto& q) {
           return std::ranges::any_of(q.second.classes, [](const spec::TrafficClass& c) {
             return c.path.policy == PathPolicy::kValiant || c.path.policy == PathPolicy::kUgal;
           });
         });
}

Detours::Detours(const Graph& graph) : graph_(graph), leading_out_(graph.size()) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint8_t>::max();
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    const std::vector<Graph::Edge>& edges = graph.edges(n);
    if (std::ranges::none_of(edges, [&](const Graph::Edge& e) { return graph.is_host(e.neighbour); })) continue;
    for (const Graph::Edge& e : edges)
      if (graph.is_switch(e.neighbour) && graph.order().group(e.neighbour) != graph.order().group(n) &&
          leading_out_[n].size() < kMost)
        leading_out_[n].push_back(&e);
  }
}

void Detours::add_origin(std::size_t owner, std::span<const int> hops) {
  owners_.push_back(owner);
  std::vector<std::uint8_t>& known = hops_.emplace_back();
  for (const int h : hops)
    known.push_back(h < 0 ? kNoWay : static_cast<std::uint8_t>(std::min<int>(h, kNoWay - 2)));
}

std::vector<const Graph::Edge*> Detours::from(std::size_t node, std::size_t origin) const {
  std::vector<const Graph::Edge*> out;
  if (graph_.order().group(node) == graph_.order().group(owners_[origin])) return out;
  for (const Graph::Edge* e : leading_out_[node])
    if (hops_[origin][e->neighbour] != kNoWay) out.push_back(e);
  return out;
}

void Detours::add_to(Route& route, std::size_t node, std::size_t origin) const {
  if (hops_[origin][node] == kNoWay) return;
  for (const Graph::Edge* e : from(node, origin))
    route.detours.push_back({e->port, static_cast<std::uint8_t>(hops_[origin][e->neighbour] + 1)});
  if (!route.detours.empty()) route.hops = hops_[origin][node];
}

}  // namespace railyard::routing
