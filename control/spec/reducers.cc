#include "control/spec/reducers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/switch_graph.h"

namespace railyard::spec {
namespace {

constexpr const char* kProfile = "reducer";

void add_profile(Lab& lab) {
  if (lab.hosts.contains(kProfile)) return;
  HostProfile profile = lab.hosts.at("default");
  profile.attach = {};
  profile.scale_up.reset();
  profile.gpus.reset();
  profile.gpu_nics.clear();
  profile.pcie.reset();
  profile.interfaces.clear();
  lab.hosts.emplace(kProfile, std::move(profile));
}

// Of the switch at the other end of a host's link.
int vlan_at(const Lab& lab, const PortName& port) {
  const auto& vlans = lab.find(port.node)->vlans;
  const auto found = vlans.find(port.port);
  return found == vlans.end() ? VlanSpec{}.native : found->second.native;
}

// Of a switch: its links together, and the last port that has one.
struct Links {
  BitRate rate{};
  int last_port = 0;
  int mtu = 0;
};

}  // namespace

void add_reducers(Draft& draft) {
  Lab& lab = draft.lab;
  if (std::ranges::none_of(lab.switches, [](const auto& s) { return s.second.reduction.has_value(); })) return;
  std::map<std::string, Links> links;
  std::set<std::string> has;  // switches
  for (const LinkSpec& link : lab.links)
    for (const auto& [end, other] : {std::pair{&link.a, &link.b}, std::pair{&link.b, &link.a}}) {
      const NodeSpec* const peer = lab.find(other->node);
      if (peer != nullptr && peer->reduces) has.insert(end->node);
      Links& l = links[end->node];
      l.rate.bps += link.rate.bps;
      l.last_port = std::max(l.last_port, end->port);
      l.mtu = std::max(l.mtu, link.mtu);
    }
  const std::set<int> vlans = vlans_of_hosts(lab);
  const std::size_t nodes = lab.nodes.size();
  for (std::size_t n = 0; n < nodes; ++n) {
    const NodeSpec node = lab.nodes[n];
    if (node.kind != NodeSpec::Kind::kSwitch || has.contains(node.name) || !links.contains(node.name)) continue;
    const auto& reduction = lab.switches.at(node.profile).reduction;
    if (!reduction) continue;
    add_profile(lab);
    const std::string name = node.name + "-reducer";
    const Tree& said = *draft.sections.switches;
    if (!draft.node_index.try_emplace(name, lab.nodes.size()).second)
      said.fail(fmt::format("{} would have a reducer called {}, but there is a node of this name; expected another name for it",
                            node.name, name));
    NodeSpec& made = lab.nodes.emplace_back();
    made.name = name;
    made.kind = NodeSpec::Kind::kHost;
    made.profile = kProfile;
    made.rack = node.rack;
    made.reduces = true;
    made.place = node.place;
    made.nics.emplace_back().place = node.place;
    draft.nodes.push_back(&said);
    const Links& of = links.at(node.name);
    LinkSpec& link = lab.links.emplace_back();
    link.a = {name, 1};
    link.b = {node.name, of.last_port + 1};
    link.rate = reduction->rate.value_or(of.rate);
    link.delay = {};
    link.cable.reset();
    link.mtu = of.mtu;
    if (vlans.size() == 1 && *vlans.begin() != VlanSpec{}.native)
      lab.nodes[n].vlans[link.b.port] = {.native = *vlans.begin(), .all_tagged = false, .tagged = {}};
    link.place = node.place;
    draft.links.push_back(&said);
  }
  lab.make_index();
}

std::set<int> vlans_of_hosts(const Lab& lab) {
  std::set<int> all;
  for (const LinkSpec& link : lab.links)
    for (const auto& [end, other] : {std::pair{&link.a, &link.b}, std::pair{&link.b, &link.a}}) {
      const NodeSpec* const host = lab.find(end->node);
      const NodeSpec* const peer = lab.find(other->node);
      if (host == nullptr || host->kind != NodeSpec::Kind::kHost || host->reduces) continue;
      if (peer != nullptr && peer->kind == NodeSpec::Kind::kSwitch) all.insert(vlan_at(lab, *other));
    }
  return all;
}

std::vector<PortName> reducers(const Lab& lab) {
  std::vector<PortName> all;
  for (const NodeSpec& node : lab.nodes)
    if (node.reduces) all.push_back({node.name, 1});
  return all;
}

collectives::ReductionNetwork reduction_network(const Lab& lab, const std::vector<PortName>& ranks) {
  using collectives::ReductionNetwork;
  const std::vector<PortName> reducing = reducers(lab);
  const SwitchGraph graph(lab);
  ReductionNetwork out;
  std::map<std::size_t, std::uint32_t> number;  // by node
  for (std::size_t n = 0; n < lab.nodes.size(); ++n)
    if (graph.forwards[n]) number.emplace(n, static_cast<std::uint32_t>(number.size()));
  out.neighbours.resize(number.size());
  out.reducer.assign(number.size(), ReductionNetwork::kNone);
  for (const auto& [node, s] : number)
    for (const SwitchGraph::Edge& edge : graph.edges[node]) {
      std::vector<std::uint32_t>& own = out.neighbours[s];
      if (const std::uint32_t to = number.at(edge.node); std::ranges::find(own, to) == own.end()) own.push_back(to);
    }
  for (const PortName& nic : reducing) {
    const SwitchGraph::Access& access = graph.access.at(nic);
    const auto& said = lab.switches.at(lab.nodes[access.peer].profile).reduction;
    out.reducer[number.at(access.peer)] = static_cast<std::uint32_t>(out.latency.size());
    out.latency.push_back(said ? said->latency : Duration{});
  }
  for (const PortName& nic : ranks) {
    const SwitchGraph::Access& access = graph.access.at(nic);
    out.leaf.push_back(graph.is_at_switch(access) ? number.at(access.peer) : ReductionNetwork::kNone);
  }
  const std::vector<std::uint32_t> host = places(lab, ranks).host;
  for (const PortName& first : network_reducers(lab, ranks)) {
    const auto rank = static_cast<std::size_t>(std::ranges::find(ranks, first) - ranks.begin());
    out.of_network.resize(std::max<std::size_t>(out.of_network.size(), host[rank] + 1), ReductionNetwork::kNone);
    out.of_network[host[rank]] = static_cast<std::uint32_t>(out.latency.size());
    out.latency.emplace_back();
  }
  return out;
}

std::vector<PortName> network_reducers(const Lab& lab, const std::vector<PortName>& ranks) {
  std::vector<PortName> firsts;
  const std::vector<std::uint32_t> host = places(lab, ranks).host;
  std::set<std::uint32_t> done;
  for (std::size_t r = 0; r < host.size(); ++r) {
    const auto& scale_up = lab.hosts.at(lab.find(ranks[r].node)->profile).scale_up;
    if (scale_up && scale_up->reduces && std::ranges::count(host, host[r]) > 1 && done.insert(host[r]).second)
      firsts.push_back(ranks[r]);
  }
  return firsts;
}

Lab without_reducers(const Lab& lab) {
  Lab out = lab;
  std::erase_if(out.links, [&](const LinkSpec& l) { return lab.find(l.a.node)->reduces || lab.find(l.b.node)->reduces; });
  std::erase_if(out.nodes, [](const NodeSpec& n) { return n.reduces; });
  out.make_index();
  return out;
}

}  // namespace railyard::spec
