#include "control/rerouting/route_updates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "dataplane/switch/switch.h"

namespace railyard::rerouting {

RouteUpdates::RouteUpdates(build::BuiltLab& lab, Engine& engine) : lab_(lab), engine_(engine) {
  engine_.after_windows(this, [this] { look(); });
}

RouteUpdates::~RouteUpdates() { engine_.after_windows(this, nullptr); }

void RouteUpdates::look() {
  if (engine_.has_topology_events()) [[unlikely]]
    for (const TopologyEvent& e : engine_.take_topology_events())
      if (lab_.spec().routing.protocol != spec::RoutingProtocol::kStatic) take(e);
  if (protocol_ == nullptr || (protocol_->next() == Instant::never() && wakes_at_ == Instant::never())) [[likely]]
    return;
  if (protocol_->next() < engine_.reached()) {
    protocol_->run(engine_.reached(), [this](routing::TableChange c) { write(std::move(c)); });
    engine_.wake_all();
  }
  if (!reroutings_.empty()) {
    Rerouting& last = reroutings_.back();
    last.messages = protocol_->counters().messages - before_.messages;
    last.at_rest = protocol_->next() == Instant::never();
  }
  wake();
}

// The engine comes back when there is something to do, even if no frame is on its way.
void RouteUpdates::wake() {
  if (wakes_at_ < engine_.reached()) wakes_at_ = Instant::never();
  const Instant next = protocol_->next();
  if (next >= wakes_at_) return;
  wakes_at_ = std::max(next, engine_.reached());
  lab_.fabric()[DeviceId{0}].change_at(wakes_at_, [](Instant) {});
  engine_.wake_all();
}

Rerouting& RouteUpdates::rerouting(Instant at) {
  if (protocol_ == nullptr) {
    protocol_ = routing::make_protocol(lab_.spec().routing, lab_.graph(), lab_.routes(), lab_.fabric().window().size);
    ribs_ = lab_.routes().ribs;
  }
  if (reroutings_.empty() || reroutings_.back().at_rest) {
    reroutings_.emplace_back().began_ns = nanoseconds(at - Instant{});
    changed_.assign(lab_.graph().size(), false);
    before_ = protocol_->counters();
  }
  return reroutings_.back();
}

void RouteUpdates::take(const TopologyEvent& e) {
  if (!lab_.graph().is_switch(e.device.index())) return;
  switch (e.kind) {
    case TopologyEvent::Kind::kLinkDown:
    case TopologyEvent::Kind::kLinkUp:
    case TopologyEvent::Kind::kBfdDown:
    case TopologyEvent::Kind::kBfdUp:
      return take_link(e);
    case TopologyEvent::Kind::kDrained:
    case TopologyEvent::Kind::kUndrained:
      return take_drain(e);
  }
}

void RouteUpdates::note(Instant at, std::string what) {
  Rerouting& r = rerouting(at);
  if (r.causes.size() < Rerouting::kMostCauses) r.causes.push_back({nanoseconds(at - Instant{}), std::move(what)});
  ++r.cause_count;
}

void RouteUpdates::take_link(const TopologyEvent& e) {
  const std::size_t node = e.device.index();
  const auto edge = std::ranges::find(lab_.graph().edges(node), e.port, &routing::Graph::Edge::port);
  // A host's link is its switch's own affair: its address stays with the switch.
  if (edge == lab_.graph().edges(node).end() || lab_.graph().is_host(edge->neighbour)) return;
  const bool by_bfd = e.kind == TopologyEvent::Kind::kBfdDown || e.kind == TopologyEvent::Kind::kBfdUp;
  const bool up = e.kind == TopologyEvent::Kind::kLinkUp || e.kind == TopologyEvent::Kind::kBfdUp;
  const std::string port = format(spec::PortName{lab_.spec().nodes[node].name, e.port.value + 1});
  note(e.at, fmt::format("{}{} {}", port, by_bfd ? " BFD" : "", up ? "up" : "down"));
  Port& state = ports_.try_emplace({node, e.port.value}).first->second;
  const bool before = state.signal && state.bfd;
  if (by_bfd) {
    state.bfd = up;
  } else {
    // With the signal BFD begins anew, as up.
    state = {.signal = up};
  }
  if ((state.signal && state.bfd) == before) return;
  protocol_->port_changed({e.at, node, e.port, up, by_bfd});
}

// Several faults may have it drained.
void RouteUpdates::take_drain(const TopologyEvent& e) {
  const std::size_t node = e.device.index();
  const bool on = e.kind == TopologyEvent::Kind::kDrained;
  drains_.resize(lab_.graph().size(), 0);
  const int before = drains_[node];
  drains_[node] += on ? 1 : -1;
  if ((before == 0) == (drains_[node] == 0)) return;
  note(e.at, fmt::format("{} {}", lab_.spec().nodes[node].name, on ? "drained" : "undrained"));
  protocol_->drain(e.at, node, on);
}

void RouteUpdates::write(routing::TableChange change) {
  for (const auto& [origin, group] : change.groups) ribs_[change.node].set(origin, group);
  Rerouting& c = reroutings_.back();
  const std::int64_t at = nanoseconds(change.at - Instant{});
  if (c.first_change_ns < 0) c.first_change_ns = at;
  c.last_change_ns = std::max(c.last_change_ns, at);
  if (!changed_[change.node]) ++c.switches;
  changed_[change.node] = true;
  ++c.table_changes;
  c.routes += change.groups.size();
  give_table(change.at, change.node,
             std::make_shared<const std::vector<Route>>(lab_.routes().table_of(change.node, ribs_[change.node])));
}

// To the switch, and to those that judge its ports by it.
void RouteUpdates::give_table(Instant at, std::size_t node, const std::shared_ptr<const std::vector<Route>>& table) {
  const std::shared_ptr<const FecTable>& fecs = lab_.routes().fecs;
  Switch& sw = lab_.switch_named(lab_.spec().nodes[node].name);
  sw.change_at(at, [&sw, fecs, table](Instant) { sw.set_routes(fecs, *table); });
  std::shared_ptr<const ForwardingTable> beyond;
  for (const routing::Graph::Edge& e : lab_.graph().edges(node)) {
    if (!lab_.graph().is_switch(e.neighbour)) continue;
    Switch& neighbour = lab_.switch_named(lab_.spec().nodes[e.neighbour].name);
    if (!neighbour.listens_to(e.neighbour_port)) continue;
    if (beyond == nullptr) beyond = std::make_shared<const ForwardingTable>(*fecs, *table);
    neighbour.change_at(
        at, [&neighbour, port = e.neighbour_port, beyond](Instant) { neighbour.set_table_beyond(port, beyond); });
  }
}

std::vector<Route> RouteUpdates::table_of(DeviceId node) const {
  return ribs_.empty() ? lab_.routes().table_of(node.index())
                       : lab_.routes().table_of(node.index(), ribs_[node.index()]);
}

}  // namespace railyard::rerouting
