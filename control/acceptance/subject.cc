#include "control/acceptance/subject.h"

#include <algorithm>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "control/routing/graph.h"
#include "control/spec/input_error.h"
#include "control/spec/switch_graph.h"
#include "control/structure/structure.h"
#include "dataplane/base/rng.h"

namespace railyard::acceptance {
namespace {

// Hosts as built-in endpoints under the virtual clock: what validates the fabric is the same on every machine.
void make_virtual(spec::Lab& lab) {
  lab.run.clock = spec::Clock::kVirtual;
  lab.run.cores.clear();
  lab.run.agents.reset();
  for (auto& [name, profile] : lab.hosts) profile.attach = {};
  for (spec::NodeSpec& node : lab.nodes) {
    if (node.kind == spec::NodeSpec::Kind::kTrunk)
      throw InputError(
          fmt::format("{}: the lab has a trunk, '{}', whose far end is another daemon's; expected a lab that is "
                      "complete",
                      lab.name, node.name));
    node.agent.reset();
    for (spec::NicSpec& nic : node.nics) nic.attach = {};
  }
}

// The first RDMA work of the lab that goes over this transport.
spec::TrafficSpec like(const spec::Lab& lab, bool uet) {
  spec::TrafficSpec out;
  const auto transport = uet ? spec::TrafficSpec::Transport::kUet : spec::TrafficSpec::Transport::kRoce;
  const auto traffic = std::ranges::find(lab.traffic, transport, &spec::TrafficSpec::transport);
  const auto collective = std::ranges::find(lab.collectives, uet, &spec::CollectiveSpec::is_uet);
  if (traffic != lab.traffic.end() && !traffic->is_uc() && !traffic->is_rping()) {
    out.dscp = traffic->dscp;
    out.ect = traffic->ect;
    out.priority = traffic->priority;
    out.vlan = traffic->vlan;
    out.pcp = traffic->pcp;
    out.ip_version = traffic->ip_version;
    out.roce.path_mtu = traffic->roce.path_mtu;
    out.roce.qps = traffic->roce.qps;
  } else if (collective != lab.collectives.end()) {
    out.dscp = collective->dscp;
    out.ect = collective->ect;
    out.priority = collective->priority;
    out.ip_version = collective->ip_version;
    out.roce.path_mtu = collective->path_mtu;
  }
  out.transport = transport;
  return out;
}

bool is_uet(const spec::Lab& lab) {
  const auto roce = std::ranges::any_of(lab.traffic, &spec::TrafficSpec::is_roce) ||
                    std::ranges::any_of(lab.collectives, [](const auto& c) { return !c.is_uet(); });
  const auto uet = std::ranges::any_of(lab.traffic, &spec::TrafficSpec::is_uet) ||
                   std::ranges::any_of(lab.collectives, &spec::CollectiveSpec::is_uet);
  return uet && !roce;
}

// For each node, one number for all switches that reach each other.
std::vector<std::size_t> components(const routing::Graph& graph) {
  std::vector<std::size_t> of(graph.size(), graph.size());
  for (std::size_t first = 0; first < graph.size(); ++first) {
    if (!graph.is_switch(first) || of[first] != graph.size()) continue;
    std::vector<std::size_t> next{first};
    of[first] = first;
    while (!next.empty()) {
      const std::size_t node = next.back();
      next.pop_back();
      for (const routing::Graph::Edge& e : graph.edges(node))
        if (graph.is_switch(e.neighbour) && of[e.neighbour] == graph.size()) {
          of[e.neighbour] = first;
          next.push_back(e.neighbour);
        }
    }
  }
  return of;
}

Duration one_way(const spec::Lab& lab, const routing::Graph& graph, int path_mtu) {
  Duration node{}, cable{}, host{};
  std::int64_t slowest = 0;
  for (const auto& [name, profile] : lab.switches) node = std::max(node, profile.latency);
  for (const auto& [name, profile] : lab.hosts) host = std::max(host, profile.latency);
  for (const spec::LinkSpec& link : lab.links) {
    cable = std::max(cable, link.delay);
    slowest = slowest == 0 ? link.rate.bps : std::min(slowest, link.rate.bps);
  }
  const int switches = structure::structure(graph).most_switches;
  constexpr int kHeaders = 100;
  const Duration frame{static_cast<std::int64_t>((path_mtu + kHeaders) * 8e12 /
                                                 static_cast<double>(std::max<std::int64_t>(slowest, 1)))};
  return node * switches + (cable + frame) * (switches + 1) + host * 2;
}

bool is_built_in(const spec::Lab& lab, const std::string& host, std::size_t nic) {
  return std::holds_alternative<std::monostate>(lab.find(host)->nics[nic].attach);
}

// `all`: attached NICs, too.
Subject make_subject(const spec::Lab& lab, const Settings& settings, const std::optional<std::string>& transport, bool all) {
  Subject s;
  s.lab = lab;
  s.settings = settings;
  make_virtual(s.lab);
  s.lab.make_index();
  s.uet = transport ? *transport == "uet" : is_uet(lab);
  s.like = like(lab, s.uet);
  const routing::Graph graph(s.lab);
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_host(n) || s.lab.nodes[n].reduces) continue;
    for (const routing::Graph::Edge& e : graph.edges(n)) {
      if (!graph.is_switch(e.neighbour) || !(all || is_built_in(lab, s.lab.nodes[n].name, e.port.index()))) continue;
      s.nics.push_back({s.lab.nodes[n].name, static_cast<int>(e.port.value) + 1});
      s.bps.push_back(graph.bps(e.link));
      s.edge.push_back(e.neighbour);
    }
  }
  const std::vector<std::size_t> component = components(graph);
  // Ports of another VLAN are not reached, such as those of another rail at the same switch.
  const spec::SwitchGraph access(s.lab);
  const auto share_vlan = [&](std::size_t from, std::size_t to) {
    const auto a = access.access.find(s.nics[from]), b = access.access.find(s.nics[to]);
    return a == access.access.end() || b == access.access.end() ||
           spec::SwitchGraph::share_vlan(a->second, b->second, s.like.vlan);
  };
  for (std::size_t from = 0; from < s.nics.size(); ++from)
    for (std::size_t to = 0; to < s.nics.size(); ++to)
      if (s.nics[from].node != s.nics[to].node && component[s.edge[from]] == component[s.edge[to]] && share_vlan(from, to))
        s.pairs.push_back({from, to});
  s.all_pairs = s.pairs.size();
  if (s.pairs.size() > settings.most_pairs) {
    RngStream draw(lab.run.seed, "validate/pairs");
    for (std::size_t i = 0; i < settings.most_pairs; ++i)
      std::swap(s.pairs[i], s.pairs[i + draw.below(s.pairs.size() - i)]);
    s.pairs.resize(settings.most_pairs);
  }
  s.one_way = one_way(s.lab, graph, s.like.roce.path_mtu);
  return s;
}

}  // namespace

Subject subject_of(const spec::Lab& lab, const Settings& settings, const std::optional<std::string>& transport) {
  Subject s = make_subject(lab, settings, transport, true);
  if (s.pairs.empty())
    throw InputError(fmt::format("{}: there are no two hosts at switches; a fabric has them", lab.name));
  return s;
}

Subject live_subject_of(const spec::Lab& lab, const Settings& settings, const std::optional<std::string>& transport) {
  return make_subject(lab, settings, transport, false);
}

}  // namespace railyard::acceptance
