#include "control/estimate/flow_network.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "control/spec/pcie.h"
#include "control/spec/value.h"
#include "dataplane/base/hash.h"

namespace railyard::estimate {

FlowNetwork::FlowNetwork(const spec::Lab& lab) : lab_(lab), graph_(lab), times_(lab) {
  for (const spec::NodeSpec& node : lab.nodes)
    for (const spec::PcieGroup& group : spec::pcie_groups(lab, node)) {
      for (const int nic : group.nics) uplink_of_[{node.name, nic}] = static_cast<std::uint32_t>(uplinks_.size());
      uplinks_.push_back({spec::format(node, group), group.uplink});
    }
}

std::string FlowNetwork::name(std::uint32_t link) const {
  if (is_uplink(link))
    return fmt::format("{} PCIe {}", uplinks_[link / 2 - lab_.links.size()].name, link % 2 == 0 ? "out" : "in");
  return spec::format(link % 2 == 0 ? lab_.links[link / 2].a : lab_.links[link / 2].b);
}

bool FlowNetwork::between_switches(std::uint32_t link) const {
  if (is_uplink(link)) return false;
  const spec::LinkSpec& l = lab_.links[link / 2];
  return graph_.is_switch(graph_.node(l.a.node)) && graph_.is_switch(graph_.node(l.b.node));
}

void FlowNetwork::use_uplink(const spec::PortName& nic, Direction direction, std::vector<LinkUse>& uses) const {
  if (const auto found = uplink_of_.find(nic); found != uplink_of_.end())
    uses.push_back({static_cast<std::uint32_t>(2 * (lab_.links.size() + found->second)) + (direction == Direction::kIn ? 1u : 0u), 1});
}

FlowNetwork::Edge FlowNetwork::edge(std::size_t node, PortIndex port) const {
  const routing::Graph::Edge& e = *std::ranges::find(graph_.edges(node), port, &routing::Graph::Edge::port);
  const spec::LinkSpec& link = lab_.links[e.link];
  const bool from_a = graph_.node(link.a.node) == node && link.a.port == static_cast<int>(port.value) + 1;
  return {static_cast<std::uint32_t>(2 * e.link + (from_a ? 0 : 1)), e.neighbour};
}

// Of a NIC's link, no more than its slot carries.
double FlowNetwork::capacity(std::uint32_t link) const {
  if (is_uplink(link)) return static_cast<double>(uplinks_[link / 2 - lab_.links.size()].rate.bps) / 8;
  const spec::LinkSpec& l = lab_.links[link / 2];
  BitRate rate = l.rate;
  for (const spec::PortName* end : {&l.a, &l.b})
    if (const auto bus = spec::pcie_rate(lab_, *lab_.find(end->node))) rate = std::min(rate, *bus);
  return static_cast<double>(rate.bps) / 8;
}

const routing::PathsTo& FlowNetwork::paths_to(std::size_t node) {
  std::unique_ptr<routing::PathsTo>& paths = paths_to_[node];
  if (paths == nullptr) paths = std::make_unique<routing::PathsTo>(graph_, routing::Origin{{}, {{node, {}}}});
  return *paths;
}

const std::vector<LinkUse>& FlowNetwork::path(const spec::PortName& from, const spec::PortName& to, bool spread,
                                              std::uint64_t draw) {
  const auto [found, is_new] = paths_.try_emplace({from, to, spread, spread ? 0 : draw});
  if (!is_new) return found->second;
  std::vector<LinkUse>& uses = found->second;
  const Edge first = edge(graph_.node(from.node), PortIndex{static_cast<std::uint16_t>(from.port - 1)});
  const Edge back = edge(graph_.node(to.node), PortIndex{static_cast<std::uint16_t>(to.port - 1)});
  const std::uint32_t last = back.link ^ 1u;
  if (first.link == last) {  // cabled to each other
    uses.push_back({first.link, 1});
    use_uplink(from, Direction::kOut, uses);
    use_uplink(to, Direction::kIn, uses);
    return uses;
  }
  if (!graph_.is_switch(first.neighbour) || !graph_.is_switch(back.neighbour)) return uses;
  const routing::PathsTo& paths = paths_to(back.neighbour);
  if (paths.distance(first.neighbour) == routing::PathsTo::kUnreached) return uses;
  uses.push_back({first.link, 1});
  // What comes through each switch, from the farthest on.
  std::map<std::size_t, double> through{{first.neighbour, 1}};
  std::vector<std::size_t> open{first.neighbour};
  while (!open.empty()) {
    const auto farthest = std::ranges::max_element(open, {}, [&](std::size_t n) { return paths.distance(n); });
    const std::size_t node = *farthest;
    open.erase(farthest);
    if (node == back.neighbour) continue;
    const routing::NextHopGroup& group = paths.group(node);
    const auto weight = [&](std::size_t i) { return group.weights.empty() ? 1.0 : group.weights[i]; };
    double all = 0;
    for (std::size_t i = 0; i < group.ports.size(); ++i) all += weight(i);
    const std::size_t only = group.ports.empty() ? 0 : mix64(draw + node) % group.ports.size();
    for (std::size_t i = 0; i < group.ports.size(); ++i) {
      if (!spread && i != only) continue;
      const Edge out = edge(node, group.ports[i]);
      const double share = through[node] * (spread ? weight(i) / all : 1);
      uses.push_back({out.link, share});
      if (const auto [next, first_time] = through.try_emplace(out.neighbour, 0); first_time) open.push_back(next->first);
      through[out.neighbour] += share;
    }
  }
  uses.push_back({last, 1});
  use_uplink(from, Direction::kOut, uses);
  use_uplink(to, Direction::kIn, uses);
  return uses;
}

Duration FlowNetwork::latency(const spec::PortName& from, const spec::PortName& to, int frame_octets) {
  const auto [found, is_new] = latencies_.try_emplace({from, to, frame_octets});
  if (!is_new) return found->second;
  const auto whole = times_.one_way(from, to, frame_octets);
  if (whole) found->second = std::max(*whole - Bytes{frame_octets} / times_.rate(from), Duration{});
  return found->second;
}

}  // namespace railyard::estimate
