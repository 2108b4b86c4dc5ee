#include "control/acceptance/live/class_trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/routing/class_walk.h"
#include "control/routing/graph.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"

namespace railyard::acceptance::live {
namespace {

using Json = nlohmann::ordered_json;

// A port at which packets may come, and the class in which they should.
using Entry = std::tuple<std::size_t, std::size_t, int>;  // node, port from 0, class

class Counts {
 public:
  Counts(const routing::Graph& graph, const Json& ports) {
    for (const Json& p : ports) {
      auto& classes = by_port_[{graph.node(p["node"].get<std::string>()), p["port"].get<std::size_t>() - 1}];
      for (const Json& c : p["classes"]) classes[c["class"].get<int>()] = c["all_rx"].get<std::uint64_t>();
    }
  }
  std::uint64_t of(const Entry& e) const {
    const auto port = by_port_.find({std::get<0>(e), std::get<1>(e)});
    if (port == by_port_.end()) return 0;
    const auto c = port->second.find(std::get<2>(e));
    return c == port->second.end() ? 0 : c->second;
  }
  // Another class in which at least so many came there.
  std::optional<int> other(const Entry& e, std::uint64_t packets) const {
    const auto port = by_port_.find({std::get<0>(e), std::get<1>(e)});
    if (port == by_port_.end()) return std::nullopt;
    for (const auto& [number, n] : port->second)
      if (number != std::get<2>(e) && n >= packets) return number;
    return std::nullopt;
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::map<int, std::uint64_t>> by_port_;
};

// Fewer than `packets` came at all these ports together, in the classes in which they should.
std::string wrong_hop(const spec::Lab& lab, const Counts& counts, const std::set<Entry>& hop, std::uint64_t packets) {
  std::uint64_t came = 0;
  for (const Entry& e : hop) came += counts.of(e);
  if (came >= packets) return {};
  std::vector<std::string> places;
  for (const Entry& e : hop) {
    const auto& [node, port, number] = e;
    const std::optional<int> other = counts.other(e, std::max<std::uint64_t>(packets / hop.size(), 1));
    places.push_back(fmt::format("{}:{} expects class {}{}", lab.nodes[node].name, port + 1, number,
                                 other ? fmt::format(" and counted them in class {}", *other) : ""));
  }
  return fmt::format("{} of {} packets came in the class of their DSCP: {}", came, packets, fmt::join(places, ", "));
}

}  // namespace

Json trace_classes(const spec::Lab& lab, const spec::PortName& from, const spec::PortName& to, int dscp,
                   std::uint64_t packets, const Json& ports) {
  const routing::Graph graph(lab);
  const Counts counts(graph, ports);
  Json out{{"from", spec::format(from)}, {"to", spec::format(to)}, {"hops", 0}, {"wrong", nullptr}};
  const auto edge_of = [&](const spec::PortName& nic) -> const routing::Graph::Edge* {
    for (const routing::Graph::Edge& e : graph.edges(graph.node(nic.node)))
      if (e.port.value + 1 == nic.port && graph.is_switch(e.neighbour)) return &e;
    return nullptr;
  };
  const auto* const first = edge_of(from);
  const auto* const last = edge_of(to);
  if (first == nullptr || last == nullptr) return out;
  const routing::CodePoint sent{.dscp = dscp};
  const auto class_at = [&](std::size_t node, const routing::CodePoint& point) {
    return routing::class_of(spec::qos_of(lab, lab.nodes[node]), point);
  };
  // Hop by hop: where packets may come after so many switches.
  std::map<std::size_t, std::set<Entry>> hops;
  hops[0].insert({first->neighbour, first->neighbour_port.index(), class_at(first->neighbour, sent)});
  std::map<std::pair<std::size_t, routing::CodePoint>, std::size_t> depth{{{first->neighbour, sent}, 0}};
  routing::ClassWalk walk(graph);
  for (const routing::ClassStep& step : walk.steps(first->neighbour, last->neighbour, sent)) {
    const std::size_t here = depth[{step.node, step.arrives}];
    for (const auto& exit : step.next) {
      const std::size_t node = exit.edge->neighbour;
      depth.emplace(std::pair{node, exit.leaves}, here + 1);
      hops[here + 1].insert({node, exit.edge->neighbour_port.index(), class_at(node, exit.leaves)});
    }
  }
  for (const auto& [number, hop] : hops) {
    out["hops"] = out["hops"].get<std::size_t>() + 1;
    if (const std::string wrong = wrong_hop(lab, counts, hop, packets); !wrong.empty()) {
      out["wrong"] = wrong;
      return out;
    }
  }
  return out;
}

}  // namespace railyard::acceptance::live
