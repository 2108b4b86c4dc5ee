#include "control/rerouting/route_updates.h"

#include <algorithm>
#include <compare>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/switch/switch.h"

namespace railyard::rerouting {
namespace {

// Speakers outside do not say that they have come to rest.
constexpr Duration kQuiet{kPicosecondsPerSecond};

// Prefixes whose next hops differ, or that only one of them has; both are sorted.
std::size_t changed_routes(const std::vector<Route>& before, const std::vector<Route>& after) {
  std::size_t n = 0;
  std::size_t b = 0;
  std::size_t a = 0;
  while (b < before.size() || a < after.size()) {
    const auto order = b == before.size()  ? std::strong_ordering::greater
                       : a == after.size() ? std::strong_ordering::less
                                           : before[b].prefix <=> after[a].prefix;
    n += order != 0 || before[b].ports != after[a].ports || before[b].weights != after[a].weights ? 1 : 0;
    b += order <= 0 ? 1 : 0;
    a += order >= 0 ? 1 : 0;
  }
  return n;
}

}  // namespace

RouteUpdates::RouteUpdates(build::BuiltLab& lab, Engine& engine) : lab_(lab), engine_(engine) {
  std::size_t switches = 0;
  std::size_t speakers = 0;
  for (const spec::NodeSpec& node : lab.routed_graph().lab().nodes) {
    has_speaker_.push_back(spec::has_speaker(lab.spec(), node));
    switches += node.kind == spec::NodeSpec::Kind::kSwitch ? 1 : 0;
    speakers += has_speaker_.back() ? 1 : 0;
  }
  is_outside_ = speakers > 0 && speakers == switches;
  engine_.after_windows(this, [this] { look(); });
}

RouteUpdates::~RouteUpdates() { engine_.after_windows(this, nullptr); }

void RouteUpdates::look() {
  if (engine_.has_topology_events()) [[unlikely]] {
    for (const TopologyEvent& e : engine_.take_topology_events()) {
      if (see_) see_(e);
      if (is_outside_ || lab_.spec().routing.protocol != spec::RoutingProtocol::kStatic) take(e);
    }
  }
  is_outside_ ? rest_if_quiet() : run_protocol();
}

void RouteUpdates::rest_if_quiet() {
  if (!at_rest() && engine_.reached() - active_ > kQuiet) reroutings_.back().at_rest = true;
}

// Of built-in flows: what their receivers count.
std::uint64_t RouteUpdates::reordered() const {
  std::uint64_t sum = 0;
  for (const build::Flow& flow : lab_.flows()) sum += flow.received().reordered;
  return sum;
}

// Up to now; what is lost later than kAfter behind the last change has another reason.
void RouteUpdates::add_losses(Rerouting& r) const {
  constexpr Duration kAfter{1'000'000'000};
  const auto instant = [](std::int64_t ns) { return Instant{ns * 1000}; };
  const Instant began = instant(r.began_ns);
  const Instant end = !r.at_rest ? Instant::never() : instant(std::max(r.began_ns, r.last_change_ns)) + kAfter;
  r.lost = 0;
  r.first_lost_ns = r.last_lost_ns = -1;
  r.reordered = reordered() - reordered_before_;
  for (const auto& device : lab_.fabric().devices())
    for (const LossLog::Span& span : device->losses().spans()) {
      if (span.last < began || span.first > end) continue;
      r.lost += span.packets;
      const std::int64_t first = nanoseconds(span.first - Instant{});
      if (r.first_lost_ns < 0 || first < r.first_lost_ns) r.first_lost_ns = first;
      r.last_lost_ns = std::max(r.last_lost_ns, nanoseconds(span.last - Instant{}));
    }
}

void RouteUpdates::run_protocol() {
  if (protocol_ == nullptr || (at_rest() && protocol_->next() == Instant::never() && wakes_at_ == Instant::never()))
      [[likely]]
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
  if (is_outside_) active_ = at;
  if (protocol_ == nullptr && !is_outside_) {
    protocol_ = routing::make_protocol(lab_.spec().routing, lab_.routed_graph(), lab_.routes(), lab_.fabric().window().size);
    ribs_ = lab_.routes().ribs;
  }
  if (reroutings_.empty() || reroutings_.back().at_rest) {
    if (!reroutings_.empty()) add_losses(reroutings_.back());
    reroutings_.emplace_back().began_ns = nanoseconds(at - Instant{});
    changed_.assign(lab_.routed_graph().size(), false);
    reordered_before_ = reordered();
    if (protocol_ != nullptr) before_ = protocol_->counters();
  }
  return reroutings_.back();
}

void RouteUpdates::take(const TopologyEvent& e) {
  if (!lab_.routed_graph().is_switch(e.device.index())) return;
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

RouteUpdates::Outages RouteUpdates::outages() const {
  Outages all;
  for (const auto& [at, state] : ports_)
    if (is_here(at.first) && !state.up()) all.down.push_back({routed().nodes[at.first].name, at.second + 1});
  for (std::size_t n = 0; n < drains_.size(); ++n)
    if (is_here(n) && drains_[n] > 0) all.drained.push_back(routed().nodes[n].name);
  return all;
}

void RouteUpdates::set_outages_elsewhere(Instant at, const Outages& outages) {
  if (is_outside_ || routed().routing.protocol == spec::RoutingProtocol::kStatic) return;
  using Kind = TopologyEvent::Kind;
  const routing::Graph& graph = lab_.routed_graph();
  drains_.resize(graph.size(), 0);
  for (std::size_t n = lab_.spec().nodes.size(); n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    const DeviceId device{static_cast<std::uint32_t>(n)};
    const std::string& name = routed().nodes[n].name;
    for (const routing::Graph::Edge& e : graph.edges(n)) {
      if (is_here(e.neighbour)) continue;  // this end of the trunk knows
      const auto known = ports_.find({n, e.port.value});
      const bool was_up = known == ports_.end() || known->second.up();
      const bool up = std::ranges::find(outages.down, spec::PortName{name, e.port.value + 1}) == outages.down.end();
      if (up != was_up) take({at, device, up ? Kind::kLinkUp : Kind::kLinkDown, e.port});
    }
    const bool drained = std::ranges::find(outages.drained, name) != outages.drained.end();
    if (drained != (drains_[n] > 0)) take({at, device, drained ? Kind::kDrained : Kind::kUndrained});
  }
  run_protocol();
}

void RouteUpdates::note(Instant at, std::string what) {
  Rerouting& r = rerouting(at);
  if (r.causes.size() < Rerouting::kMostCauses) r.causes.push_back({nanoseconds(at - Instant{}), std::move(what)});
  ++r.cause_count;
}

void RouteUpdates::take_link(const TopologyEvent& e) {
  const std::size_t node = e.device.index();
  const auto edge = std::ranges::find(lab_.routed_graph().edges(node), e.port, &routing::Graph::Edge::port);
  // A host's link is its switch's own affair: its address stays with the switch.
  if (edge == lab_.routed_graph().edges(node).end() || lab_.routed_graph().is_host(edge->neighbour)) return;
  const bool by_bfd = e.kind == TopologyEvent::Kind::kBfdDown || e.kind == TopologyEvent::Kind::kBfdUp;
  const bool up = e.kind == TopologyEvent::Kind::kLinkUp || e.kind == TopologyEvent::Kind::kBfdUp;
  const std::string port = format(spec::PortName{routed().nodes[node].name, e.port.value + 1});
  note(e.at, fmt::format("{}{} {}", port, by_bfd ? " BFD" : "", up ? "up" : "down"));
  const std::vector<PortIndex> members = members_of(node, *edge);
  const bool before = any_up(node, members);
  Port& state = ports_.try_emplace({node, e.port.value}).first->second;
  if (by_bfd) {
    state.bfd = up;
  } else {
    // With the signal BFD begins anew, as up.
    state = {.signal = up};
  }
  if (any_up(node, members) == before || protocol_ == nullptr) return;
  for (const PortIndex member : members) {
    protocol_->port_changed({e.at, node, member, up, by_bfd});
    // Trunks are down at both ends, and up at both.
    const auto link = std::ranges::find(lab_.routed_graph().edges(node), member, &routing::Graph::Edge::port);
    if (is_here(node) && !is_here(link->neighbour))
      protocol_->port_changed({e.at, link->neighbour, link->neighbour_port, up, by_bfd});
  }
}

std::vector<PortIndex> RouteUpdates::members_of(std::size_t node, const routing::Graph::Edge& edge) const {
  const std::string& bundle = routed().links[edge.link].bundle;
  if (bundle.empty()) return {edge.port};
  std::vector<PortIndex> ports;
  for (const routing::Graph::Edge& e : lab_.routed_graph().edges(node))
    if (routed().links[e.link].bundle == bundle) ports.push_back(e.port);
  return ports;
}

bool RouteUpdates::any_up(std::size_t node, const std::vector<PortIndex>& ports) const {
  return std::ranges::any_of(ports, [&](PortIndex port) {
    const auto known = ports_.find({node, port.value});
    return known == ports_.end() || known->second.up();
  });
}

// Several faults may have it drained.
void RouteUpdates::take_drain(const TopologyEvent& e) {
  const std::size_t node = e.device.index();
  const bool on = e.kind == TopologyEvent::Kind::kDrained;
  drains_.resize(lab_.routed_graph().size(), 0);
  const int before = drains_[node];
  drains_[node] += on ? 1 : -1;
  if ((before == 0) == (drains_[node] == 0)) return;
  note(e.at, fmt::format("{} {}", routed().nodes[node].name, on ? "drained" : "undrained"));
  if (protocol_ != nullptr) protocol_->drain(e.at, node, on);
}

// In the last of the reroutings.
void RouteUpdates::note_change(Instant at, std::size_t node, std::size_t routes) {
  Rerouting& c = reroutings_.back();
  const std::int64_t ns = nanoseconds(at - Instant{});
  if (c.first_change_ns < 0) c.first_change_ns = ns;
  c.last_change_ns = std::max(c.last_change_ns, ns);
  if (!changed_[node]) ++c.switches;
  changed_[node] = true;
  ++c.table_changes;
  c.routes += routes;
}

void RouteUpdates::take_table(Instant at, DeviceId device, std::vector<Route> table, std::vector<wire::IpAddress> local) {
  const std::size_t node = device.index();
  const auto [known, is_first] = tables_.try_emplace(node);
  if (is_first || at_rest())
    note(at, fmt::format("{} {} routes", lab_.spec().nodes[node].name, is_first ? "first" : "other"));
  rerouting(at);
  note_change(at, node, changed_routes(known->second, table));
  known->second = table;
  give_table(at, node, std::make_shared<const std::vector<Route>>(std::move(table)));
  Switch& sw = lab_.switch_named(lab_.spec().nodes[node].name);
  sw.change_at(at, [&sw, local = std::move(local)](Instant) { sw.set_local_addresses(local); });
}

void RouteUpdates::write(routing::TableChange change) {
  if (!is_here(change.node)) return;
  if (planted(PlantedBug::kStaleNextHop))
    std::erase_if(change.groups, [&](const auto& g) {
      return g.second.ports.size() < ribs_[change.node].group(g.first).ports.size();
    });
  for (const auto& [origin, group] : change.groups) ribs_[change.node].set(origin, group);
  if (has_speaker_[change.node]) return;  // what the model would have it forward by
  note_change(change.at, change.node, change.groups.size());
  give_table(change.at, change.node,
             std::make_shared<const std::vector<Route>>(lab_.routes().table_of(change.node, ribs_[change.node])));
}

// To the switch, and to those that judge its ports by it.
void RouteUpdates::give_table(Instant at, std::size_t node, const std::shared_ptr<const std::vector<Route>>& table) {
  const std::shared_ptr<const FecTable>& fecs = lab_.routes().fecs;
  Switch& sw = lab_.switch_named(lab_.spec().nodes[node].name);
  sw.change_at(at, [&sw, fecs, table](Instant) { sw.set_routes(fecs, *table); });
  std::shared_ptr<const ForwardingTable> beyond;
  for (const routing::Graph::Edge& e : lab_.routed_graph().edges(node)) {
    if (!lab_.routed_graph().is_switch(e.neighbour) || !is_here(e.neighbour)) continue;
    Switch& neighbour = lab_.switch_named(lab_.spec().nodes[e.neighbour].name);
    if (!neighbour.listens_to(e.neighbour_port)) continue;
    if (beyond == nullptr) beyond = std::make_shared<const ForwardingTable>(*fecs, *table);
    neighbour.change_at(
        at, [&neighbour, port = e.neighbour_port, beyond](Instant) { neighbour.set_table_beyond(port, beyond); });
  }
}

std::vector<Route> RouteUpdates::table_of(DeviceId node) const {
  if (has_speaker_[node.index()]) {
    const auto known = tables_.find(node.index());
    return known != tables_.end() ? known->second : std::vector<Route>{};
  }
  return ribs_.empty() ? lab_.routes().table_of(node.index())
                       : lab_.routes().table_of(node.index(), ribs_[node.index()]);
}

}  // namespace railyard::rerouting
