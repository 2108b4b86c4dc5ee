#include "control/spec/rank_links.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>

namespace railyard::spec {

RankLinks::RankLinks(const Lab& lab, std::vector<PortName> ranks) : lab_(lab), ranks_(std::move(ranks)), graph_(lab) {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) rank_at_.emplace(ranks_[r], r);
  for (const PortName& nic : ranks_) {
    const SwitchGraph::Access& first = graph_.access.at(ranks_.front());
    const SwitchGraph::Access& own = graph_.access.at(nic);
    if (!graph_.is_at_switch(first) || !graph_.is_at_switch(own) || hops_from(first.peer)[own.peer] < 0 ||
        !SwitchGraph::share_vlan(first, own))
      all_by_their_own_ = false;
  }
}

const std::vector<int>& RankLinks::hops_from(std::size_t node) {
  const auto [known, is_new] = hops_.try_emplace(node);
  std::vector<int>& hops = known->second;
  if (!is_new) return hops;
  hops.assign(graph_.edges.size(), -1);
  hops[node] = 0;
  std::deque<std::size_t> next{node};
  while (!next.empty()) {
    const std::size_t at = next.front();
    next.pop_front();
    for (const SwitchGraph::Edge& edge : graph_.edges[at])
      if (hops[edge.node] < 0) {
        hops[edge.node] = hops[at] + 1;
        next.push_back(edge.node);
      }
  }
  return hops;
}

std::optional<int> RankLinks::links(const PortName& from, const PortName& to) {
  const SwitchGraph::Access& a = graph_.access.at(from);
  const SwitchGraph::Access& b = graph_.access.at(to);
  if (a.peer_port == to) return 1;
  if (!graph_.is_at_switch(a) || !graph_.is_at_switch(b)) return std::nullopt;
  if (!SwitchGraph::share_vlan(a, b)) return std::nullopt;
  const int between = hops_from(a.peer)[b.peer];
  return between < 0 ? std::nullopt : std::optional(between + 2);
}

// Its host's built-in NICs that no other rank is at, its own first.
std::vector<PortName> RankLinks::choices(std::uint32_t rank) const {
  std::vector<PortName> nics{ranks_[rank]};
  const NodeSpec& node = *lab_.find(ranks_[rank].node);
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    const PortName nic{node.name, static_cast<int>(n) + 1};
    if (std::holds_alternative<std::monostate>(node.nics[n].attach) && !rank_at_.contains(nic)) nics.push_back(nic);
  }
  return nics;
}

std::vector<std::pair<PortName, PortName>> RankLinks::find_between(std::uint32_t a, std::uint32_t b) {
  // The same NICs in both directions.
  if (a > b) {
    auto turned = all_between(b, a);
    for (auto& [from, to] : turned) std::swap(from, to);
    return turned;
  }
  if (all_by_their_own_) return {{ranks_[a], ranks_[b]}};
  std::optional<int> least = links(ranks_[a], ranks_[b]);
  if (ranks_[a].node == ranks_[b].node)
    return least ? std::vector{std::pair{ranks_[a], ranks_[b]}} : std::vector<std::pair<PortName, PortName>>{};
  const std::vector<PortName> ours = choices(a);
  const std::vector<PortName> theirs = choices(b);
  if (!least)
    for (const PortName& from : ours)
      for (const PortName& to : theirs)
        if (const auto n = links(from, to); n && (!least || *n < *least)) least = n;
  std::vector<std::pair<PortName, PortName>> all;
  for (const PortName& from : ours)
    for (const PortName& to : theirs)
      if (least && links(from, to) == least && std::ranges::none_of(all, [&](const auto& known) {
            return known.first == from || known.second == to;
          }))
        all.emplace_back(from, to);
  return all;
}

const std::vector<std::pair<PortName, PortName>>& RankLinks::all_between(std::uint32_t a, std::uint32_t b) {
  if (const auto known = between_.find({a, b}); known != between_.end()) return known->second;
  auto found = find_between(a, b);
  return between_[{a, b}] = std::move(found);
}

std::optional<std::pair<PortName, PortName>> RankLinks::between(std::uint32_t a, std::uint32_t b,
                                                               std::uint32_t channel) {
  const auto& all = all_between(a, b);
  return all.empty() ? std::nullopt : std::optional(all[channel % all.size()]);
}

}  // namespace railyard::spec
