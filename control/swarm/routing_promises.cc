#include "control/swarm/routing_promises.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "control/routing/bgp/as_numbers.h"
#include "control/spec/value.h"
#include "dataplane/switch/switch.h"

namespace railyard::swarm {

Duration longest_convergence(const spec::Lab& lab) {
  const spec::RoutingSpec& r = lab.routing;
  if (r.protocol == spec::RoutingProtocol::kStatic) return {};
  // A session of BFD that is down sends once a second, and three packets bring it up.
  const Duration bfd = r.bfd ? r.bfd->interval * r.bfd->multiplier + Duration{2 * kPicosecondsPerSecond} : Duration{};
  Duration flight = r.message_delay;
  std::int64_t switches = 0;
  for (const spec::LinkSpec& l : lab.links) flight = std::max(flight, r.message_delay + l.delay);
  for (const spec::NodeSpec& n : lab.nodes) switches += n.kind == spec::NodeSpec::Kind::kSwitch ? 1 : 0;
  if (r.protocol == spec::RoutingProtocol::kInstant) return bfd + Duration{100'000'000};
  const Duration dampening = r.dampening ? r.dampening->most : Duration{};
  return bfd + dampening + r.carrier_delay + r.session_setup + (r.processing + flight + r.mrai) * (2 * switches + 2) +
         r.fib_delay + Duration{100'000'000};
}

// Itself, or another of its bundle.
bool RoutingPromises::is_up(std::size_t node, PortIndex port) const {
  const auto has_signal = [&](PortIndex p) {
    return lab_.fabric()[DeviceId{static_cast<std::uint32_t>(node)}].has_signal(p);
  };
  if (has_signal(port)) return true;
  const std::vector<routing::Graph::Edge>& edges = lab_.graph().edges(node);
  const auto edge = std::ranges::find(edges, port, &routing::Graph::Edge::port);
  const auto bundle = [&](const routing::Graph::Edge& e) -> const std::string& { return lab_.spec().links[e.link].bundle; };
  if (edge == edges.end() || bundle(*edge).empty()) return false;
  return std::ranges::any_of(
      edges, [&](const routing::Graph::Edge& e) { return bundle(e) == bundle(*edge) && has_signal(e.port); });
}

void RoutingPromises::look_at_rest() {
  if (lab_.spec().routing.protocol == spec::RoutingProtocol::kStatic || !updates_.at_rest()) return;
  for (std::size_t o = 0; o < lab_.routes().announced.origins.size(); ++o) {
    look_at(o);
    if (lab_.spec().routing.protocol == spec::RoutingProtocol::kBgp) look_for_valleys(o);
  }
}

// Every way from every switch, as far as there are not too many.
void RoutingPromises::look_for_valleys(std::size_t origin) {
  constexpr int kMostSteps = 2000;
  const routing::Graph& graph = lab_.graph();
  // The loopback of a switch that others of its AS pass by is told to them as from an AS of its own.
  const std::size_t owner = lab_.routes().announced.origins[origin].owners.front().node;
  if (std::ranges::all_of(graph.edges(owner), [&](const routing::Graph::Edge& e) { return graph.is_switch(e.neighbour); }))
    return;
  const std::vector<routing::bgp::AsNumber> as = routing::bgp::as_numbers(graph, lab_.spec().routing.as_numbers);
  int steps = 0;
  std::vector<std::size_t> way;
  const std::function<bool(std::size_t)> good = [&](std::size_t n) -> bool {
    if (++steps > kMostSteps) return true;
    if (std::ranges::any_of(way, [&](std::size_t before) { return as[before] == as[n]; })) {
      std::string text;
      for (const std::size_t w : way) text += lab_.spec().nodes[w].name + " ";
      broken_(fmt::format("the way {}{} goes through AS {} twice", text, lab_.spec().nodes[n].name, as[n]));
      return false;
    }
    way.push_back(n);
    for (const PortIndex port : updates_.rib(n).group(origin).ports) {
      const auto edge = std::ranges::find(graph.edges(n), port, &routing::Graph::Edge::port);
      if (edge != graph.edges(n).end() && graph.is_switch(edge->neighbour) && !good(edge->neighbour)) return false;
    }
    way.pop_back();
    return true;
  };
  for (std::size_t n = 0; n < graph.size() && steps < kMostSteps; ++n)
    if (graph.is_switch(n) && !good(n)) return;
}

void RoutingPromises::look_at(std::size_t origin) {
  const routing::Graph& graph = lab_.graph();
  const routing::Origin& of = lab_.routes().announced.origins[origin];
  const auto owns = [&](std::size_t n) {
    return std::ranges::any_of(of.owners, [n](const routing::Origin::Owner& o) { return o.node == n; });
  };
  enum class Seen : std::uint8_t { kNot, kOnTheWay, kGood };
  std::vector<Seen> seen(graph.size(), Seen::kNot);
  const auto name = [&](std::size_t n) { return lab_.spec().nodes[n].name; };
  const std::string to = name(of.owners.front().node);
  // Depth first: whatever a table leads to leads on, and in the end to an owner.
  const std::function<bool(std::size_t)> leads = [&](std::size_t n) -> bool {
    if (owns(n) || seen[n] == Seen::kGood) return true;
    if (seen[n] == Seen::kOnTheWay) {
      broken_(fmt::format("tables lead in a circle by {} on the way to {}", name(n), to));
      return false;
    }
    seen[n] = Seen::kOnTheWay;
    for (const PortIndex port : updates_.rib(n).group(origin).ports) {
      const auto edge = std::ranges::find(graph.edges(n), port, &routing::Graph::Edge::port);
      if (!is_up(n, port)) {
        broken_(fmt::format("{}'s table leads to {} by port {}, whose link is down", name(n), to, port.value + 1));
        return false;
      }
      if (updates_.rib(edge->neighbour).group(origin).ports.empty() && !owns(edge->neighbour)) {
        broken_(fmt::format("{}'s table leads to {} by {}, which has no route", name(n), to, name(edge->neighbour)));
        return false;
      }
      if (!leads(edge->neighbour)) return false;
    }
    seen[n] = Seen::kGood;
    return true;
  };
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (graph.is_switch(n) && !leads(n)) return;
}

void RoutingPromises::look_at_sessions(Instant now) {
  for (const auto& d : lab_.fabric().devices()) {
    if (!lab_.is_switch(d->id())) continue;
    const Switch& sw = lab_.switch_named(d->name());
    for (std::uint16_t p = 0; p < d->ports(); ++p)
      if (sw.bfd_is_late(now, PortIndex{p}))
        broken_(fmt::format("BFD of {}:{} is up, and has heard nothing for longer than its detection time", d->name(),
                            p + 1));
  }
}

void RoutingPromises::look_in_calm() {
  if (lab_.spec().routing.protocol == spec::RoutingProtocol::kStatic) return;
  if (!updates_.at_rest()) return broken_("routing is not at rest, long after the last fault");
  for (std::size_t n = 0; n < lab_.graph().size(); ++n) {
    if (!lab_.graph().is_switch(n)) continue;
    for (std::size_t o = 0; o < lab_.routes().announced.origins.size(); ++o)
      if (updates_.rib(n).group(o).ports != lab_.routes().ribs[n].group(o).ports)
        return broken_(fmt::format("{}'s table is not what it was before the faults", lab_.spec().nodes[n].name));
  }
}

}  // namespace railyard::swarm
