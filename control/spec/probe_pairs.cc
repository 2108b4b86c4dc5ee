#include "control/spec/probe_pairs.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "control/spec/switch_graph.h"
#include "dataplane/base/units.h"

namespace railyard::spec {
namespace {

// For each node, one number for all switches that reach each other.
std::vector<std::size_t> components(const SwitchGraph& graph) {
  std::vector<std::size_t> of(graph.edges.size(), graph.edges.size());
  for (std::size_t first = 0; first < of.size(); ++first) {
    if (!graph.forwards[first] || of[first] != of.size()) continue;
    std::vector<std::size_t> next{first};
    of[first] = first;
    while (!next.empty()) {
      const std::size_t node = next.back();
      next.pop_back();
      for (const SwitchGraph::Edge& e : graph.edges[node])
        if (of[e.node] == of.size()) {
          of[e.node] = first;
          next.push_back(e.node);
        }
    }
  }
  return of;
}

}  // namespace

std::vector<ProbedPair> probed_pairs(const Lab& lab) {
  const SwitchGraph graph(lab);
  const std::vector<std::size_t> component = components(graph);
  // By number of the NIC and by what connects them.
  std::map<std::pair<int, std::size_t>, std::vector<PortName>> rails;
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind != NodeSpec::Kind::kHost || node.reduces) continue;
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const PortName nic{node.name, static_cast<int>(i) + 1};
      const auto access = graph.access.find(nic);
      if (!std::holds_alternative<std::monostate>(node.nics[i].attach) || access == graph.access.end() ||
          !graph.is_at_switch(access->second))
        continue;
      rails[{nic.port, component[access->second.peer]}].push_back(nic);
    }
  }
  std::vector<ProbedPair> out;
  for (const auto& [rail, nics] : rails)
    for (const PortName& from : nics)
      for (const PortName& to : nics)
        if (from != to) out.push_back({from, to});
  return out;
}

Duration probe_slot(const Lab& lab) {
  const ProbeSpec probe = lab.probe.value_or(ProbeSpec{});
  std::int64_t slowest = 0;
  Duration cable{}, node{}, host{};
  std::size_t switches = 0;
  for (const LinkSpec& link : lab.links) {
    slowest = slowest == 0 ? link.rate.bps : std::min(slowest, link.rate.bps);
    cable = std::max(cable, link.delay);
  }
  for (const auto& [name, profile] : lab.switches) node = std::max(node, profile.latency);
  for (const auto& [name, profile] : lab.hosts) host = std::max(host, profile.latency);
  for (const NodeSpec& n : lab.nodes) switches += n.kind == NodeSpec::Kind::kSwitch;
  constexpr std::size_t kMostOnTheWay = 7;
  const auto on_the_way = static_cast<std::int64_t>(std::min(switches, kMostOnTheWay));
  constexpr std::int64_t kAround = 110;  // headers, FCS, preamble and gap
  const std::int64_t octets = (std::int64_t{probe.payload} + kAround) * probe.frames;
  const Duration train{static_cast<std::int64_t>(static_cast<Int128>(octets) * 8 * kPicosecondsPerSecond /
                                                 std::max<std::int64_t>(slowest, 1))};
  return train * 2 + (node + cable) * on_the_way + cable + host * 2;
}

}  // namespace railyard::spec
