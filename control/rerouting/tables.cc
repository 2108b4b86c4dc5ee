#include "control/rerouting/tables.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "control/routing/bgp/as_numbers.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "dataplane/packet/edge.h"
#include "dataplane/switch/path/policies.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/parse.h"

namespace railyard::rerouting {

using Json = nlohmann::ordered_json;
using routing::Graph;

namespace {

std::string port_text(const build::BuiltLab& lab, std::size_t node, PortIndex port) {
  return format(spec::PortName{lab.spec().nodes[node].name, port.value + 1});
}

const Graph::Edge* edge_at(const Graph& graph, std::size_t node, PortIndex port) {
  const auto e = std::ranges::find(graph.edges(node), port, &Graph::Edge::port);
  return e == graph.edges(node).end() ? nullptr : &*e;
}

// What is at the other end of a port.
std::string neighbour(const build::BuiltLab& lab, std::size_t node, PortIndex port) {
  const Graph::Edge* e = edge_at(lab.graph(), node, port);
  return e == nullptr ? "" : lab.spec().nodes[e->neighbour].name;
}

Json next_hop(build::BuiltLab& lab, std::size_t node, PortIndex port, std::uint32_t weight) {
  const bool up = lab.fabric()[DeviceId{static_cast<std::uint32_t>(node)}].link_up(port);
  return {{"port", port_text(lab, node, port)}, {"to", neighbour(lab, node, port)}, {"weight", weight}, {"up", up}};
}

// Who announces a prefix; hosts have none of their own.
std::string owners_of(const build::BuiltLab& lab, const wire::IpPrefix& prefix) {
  std::string text;
  for (const routing::Origin& o : lab.routes().announced.origins)
    if (std::ranges::find(o.prefixes, prefix) != o.prefixes.end())
      for (const routing::Origin::Owner& owner : o.owners)
        text += (text.empty() ? "" : ", ") + lab.routed_graph().lab().nodes[owner.node].name;
  return text;
}

Json routes_of(build::BuiltLab& lab, const RouteUpdates& updates, std::size_t node) {
  Json routes = Json::array();
  for (const Route& r : updates.table_of(DeviceId{static_cast<std::uint32_t>(node)})) {
    Json hops = Json::array();
    for (std::size_t i = 0; i < r.ports.size(); ++i)
      hops.push_back(next_hop(lab, node, r.ports[i], i < r.weights.size() ? r.weights[i] : 1));
    std::string behind = owners_of(lab, r.prefix);
    if (behind.empty() && r.ports.size() == 1) behind = neighbour(lab, node, r.ports.front());
    routes.push_back({{"prefix", to_string(r.prefix)}, {"behind", behind}, {"next_hops", std::move(hops)}});
  }
  return routes;
}

}  // namespace

Json reroutings_json(const std::vector<Rerouting>& reroutings) {
  const auto instant = [](std::int64_t ns) { return ns < 0 ? Json(nullptr) : Json(ns); };
  Json all = Json::array();
  for (const Rerouting& r : reroutings) {
    Json causes = Json::array();
    for (const Rerouting::Cause& c : r.causes) causes.push_back({{"at_ns", c.at_ns}, {"what", c.what}});
    all.push_back({{"began_ns", r.began_ns},
                   {"causes", std::move(causes)},
                   {"cause_count", r.cause_count},
                   {"first_change_ns", instant(r.first_change_ns)},
                   {"last_change_ns", instant(r.last_change_ns)},
                   {"switches", r.switches},
                   {"table_changes", r.table_changes},
                   {"routes", r.routes},
                   {"messages", r.messages},
                   {"at_rest", r.at_rest},
                   {"lost_packets", r.lost},
                   {"first_lost_ns", instant(r.first_lost_ns)},
                   {"last_lost_ns", instant(r.last_lost_ns)},
                   {"reordered_packets", r.reordered}});
  }
  return all;
}

Json routes_json(build::BuiltLab& lab, const RouteUpdates& updates, const std::optional<std::string>& node) {
  const Graph& graph = lab.graph();
  const spec::RoutingSpec& routing = lab.spec().routing;
  const bool bgp = routing.protocol == spec::RoutingProtocol::kBgp;
  const std::vector<routing::bgp::AsNumber> as =
      bgp ? routing::bgp::as_numbers(lab.routed_graph(), routing.as_numbers) : std::vector<routing::bgp::AsNumber>(graph.size(), 0);
  Json switches = Json::array();
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n) || (node && lab.spec().nodes[n].name != *node)) continue;
    switches.push_back({{"node", lab.spec().nodes[n].name},
                        {"as", bgp ? Json(as[n]) : Json(nullptr)},
                        {"routes", routes_of(lab, updates, n)}});
  }
  if (node && switches.empty()) throw std::out_of_range(fmt::format("there is no switch '{}'", *node));
  return {{"protocol", spec::name(routing.protocol)},
          {"switches", std::move(switches)},
          {"reroutings", reroutings_json(updates.reroutings())}};
}

namespace {

// The ways of a flow, from switch to switch.
class Walk {
 public:
  Walk(build::BuiltLab& lab, const FlowKey& key) : lab_(lab), key_(key) {}

  Json run() {
    const std::size_t host = lab_.graph().node(key_.from.node);
    const Graph::Edge* first = edge_at(lab_.graph(), host, PortIndex{static_cast<std::uint16_t>(key_.from.port - 1)});
    std::vector<At> now;
    if (first != nullptr && link_up(host, first->port)) go(now, *first, view());
    if (now.empty() && !arrived_) ends_.insert("the link of " + format(key_.from) + " is down");
    for (int depth = 1; !now.empty() && depth <= kMostHops; ++depth) {
      std::vector<At> next;
      for (const At& at : now) look(at, depth, next);
      now = std::move(next);
    }
    if (!now.empty()) ends_.insert("a loop");
    std::vector<std::string> ends(ends_.begin(), ends_.end());
    return {{"from", format(key_.from)},
            {"to", format(key_.to)},
            {"flow",
             {{"source", to_string(address(key_.from))},
              {"destination", to_string(address(key_.to))},
              {"dscp", key_.dscp},
              {"source_port", key_.source_port},
              {"destination_port", key_.destination_port},
              {"destination_qp", key_.entropy ? Json(nullptr) : Json(key_.destination_qp)},
              {"entropy", key_.entropy && !key_.any_entropy ? Json(*key_.entropy) : Json(nullptr)},
              {"any_entropy", key_.any_entropy}}},
            {"hops", std::move(hops_)},
            {"arrives", arrived_},
            {"lost", std::move(ends)}};
  }

 private:
  static constexpr int kMostHops = 64;  // as many as the TTL of built-in NICs

  struct At {
    std::size_t node;
    PortIndex in;
    wire::FrameView view;  // its DSCP may have changed on the way
    bool operator<(const At& o) const noexcept {
      return std::tuple(node, in.value, view.traffic_class_octet) <
             std::tuple(o.node, o.in.value, o.view.traffic_class_octet);
    }
  };

  wire::IpAddress address(const spec::PortName& nic) const {
    const spec::NicSpec& n = lab_.spec().find(nic.node)->nics[static_cast<std::size_t>(nic.port) - 1];
    const auto& a = key_.ip_version == 4 ? n.address_v4 : n.address_v6;
    if (!a) throw spec::SpecError({}, fmt::format("{} has no IPv{} address", format(nic), key_.ip_version));
    return *a;
  }

  wire::FrameView view() const {
    wire::FrameView v{};
    v.kind = key_.ip_version == 4 ? wire::FrameKind::kIpv4 : wire::FrameKind::kIpv6;
    v.source = address(key_.from);
    v.destination = address(key_.to);
    v.protocol = 17;
    v.source_port = static_cast<std::uint16_t>(key_.source_port);
    v.destination_port = static_cast<std::uint16_t>(key_.destination_port);
    v.traffic_class_octet = static_cast<std::uint8_t>(key_.dscp << 2 | 2);
    if (key_.entropy)
      v.uet_entropy = static_cast<std::uint16_t>(*key_.entropy);
    else
      v.destination_qp = static_cast<std::uint32_t>(key_.destination_qp);
    return v;
  }

  bool link_up(std::size_t node, PortIndex port) const {
    return lab_.fabric()[DeviceId{static_cast<std::uint32_t>(node)}].link_up(port);
  }

  // Over a link; to a host it is the end.
  void go(std::vector<At>& next, const Graph::Edge& e, const wire::FrameView& v) {
    if (lab_.graph().is_switch(e.neighbour)) {
      if (seen_.insert({e.neighbour, e.neighbour_port, v}).second) next.push_back({e.neighbour, e.neighbour_port, v});
      return;
    }
    if (lab_.spec().nodes[e.neighbour].name == key_.to.node && e.neighbour_port.value + 1 == key_.to.port)
      arrived_ = true;
    else
      ends_.insert("comes to " + lab_.spec().nodes[e.neighbour].name);
  }

  // By the port that is chosen; else by the first.
  static int out_class(const Switch::NextHop& hop) {
    for (const Switch::NextHop::Member& m : hop.members)
      if (!hop.chosen || *hop.chosen == m.port) return m.out_class.value;
    return hop.in_class.value;
  }

  void look(const At& at, int depth, std::vector<At>& next) {
    const std::string& name = lab_.spec().nodes[at.node].name;
    Packet packet{};
    describe(packet, at.view, *lab_.routes().fecs);
    Switch::NextHop hop = lab_.switch_named(name).next_hop(packet, at.in);
    if (key_.any_entropy && hop.members.size() > 1) hop.chosen.reset();
    Json members = Json::array();
    bool any_up = false;
    for (const Switch::NextHop::Member& m : hop.members) {
      members.push_back(next_hop(lab_, at.node, m.port, m.weight));
      any_up |= m.up;
    }
    hops_.push_back(
        {{"hop", depth},
         {"node", name},
         {"in", port_text(lab_, at.node, at.in)},
         {"class", out_class(hop)},
         {"policy", hop.members.size() > 1 ? Json(std::string(info(hop.policy).name)) : Json(nullptr)},
         {"hash", hop.chosen && hop.members.size() > 1 ? Json(fmt::format("{:08x}", hop.hash)) : Json(nullptr)},
         {"next_hops", std::move(members)},
         {"out", hop.chosen ? Json(port_text(lab_, at.node, *hop.chosen)) : Json(nullptr)}});
    if (hop.kind != NextHops::Kind::kGroup || !any_up) {
      ends_.insert(name + (hop.kind == NextHops::Kind::kNone    ? " has no route"
                           : hop.kind == NextHops::Kind::kLocal ? " takes it for itself"
                                                                : " has no link that is up"));
      return;
    }
    for (const Switch::NextHop::Member& m : hop.members) {
      if (!m.up || (hop.chosen && *hop.chosen != m.port)) continue;
      wire::FrameView v = at.view;
      if (m.out_class != hop.in_class) v.traffic_class_octet = static_cast<std::uint8_t>(m.out_dscp << 2 | 2);
      go(next, *edge_at(lab_.graph(), at.node, m.port), v);
    }
  }

  build::BuiltLab& lab_;
  const FlowKey& key_;
  Json hops_ = Json::array();
  std::set<At> seen_;
  std::set<std::string> ends_;
  bool arrived_ = false;
};

}  // namespace

Json path_json(build::BuiltLab& lab, const FlowKey& key) {
  for (const spec::PortName& nic : {key.from, key.to}) {
    const spec::NodeSpec* node = lab.spec().find(nic.node);
    if (node == nullptr || nic.port < 1 || static_cast<std::size_t>(nic.port) > node->nics.size())
      throw std::out_of_range(fmt::format("there is no NIC '{}'", format(nic)));
  }
  return Walk(lab, key).run();
}

}  // namespace railyard::rerouting
