// What faults make of a switch. Each begins and ends as a change: before all other events of its instant.
#include <algorithm>
#include <cstring>

#include "dataplane/base/planted_bug.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/vlan.h"

namespace railyard {

struct Switch::Faulty {
  struct Port {
    std::array<Overrides<EcnConfig>, kPriorities> ecn;
    Overrides<std::unique_ptr<TrustMap>> trust;
    Overrides<std::uint32_t> mtu;
    Overrides<PriorityMask> storm;
    Overrides<bool> ignores_pauses;
  };
  std::vector<Port> ports;
  Overrides<std::uint32_t> taken;  // cells
};

Switch::~Switch() = default;

Switch::Faulty& Switch::faulty() {
  if (faulty_ == nullptr) {
    faulty_ = std::make_shared<Faulty>();
    faulty_->ports.resize(ports());
  }
  return *faulty_;
}

// ---- Marking -------------------------------------------------------------------------------------------------------

void Switch::use_ecn(PortIndex port, Priority priority) {
  const SwitchClassConfig& config = config_.ports[port.index()].classes[priority.index()];
  const Overrides<EcnConfig>* wrong =
      faulty_ == nullptr ? nullptr : &faulty_->ports[port.index()].ecn[priority.index()];
  const EcnConfig& ecn = wrong == nullptr || wrong->empty() ? config.ecn : wrong->last();
  Queue& q = queues_[index(port, priority)];
  q.law = MarkingLaw(ecn, mmu_.cell());
  q.mark_at_dequeue = ecn.at_dequeue;
  any_mark_at_dequeue_ |= ecn.at_dequeue;
  const bool drop_not_ect = ecn.drop_not_ect && !config.buffer.lossless;
  q.stops =
      static_cast<std::uint8_t>((q.stops & ~unsigned{Queue::kDropNotEct}) | (drop_not_ect ? Queue::kDropNotEct : 0));
}

void Switch::begin_wrong_ecn(std::uint32_t fault, PortIndex port, Priority priority, const EcnConfig& ecn) {
  faulty().ports[port.index()].ecn[priority.index()].begin(fault, ecn);
  use_ecn(port, priority);
}

void Switch::end_wrong_ecn(std::uint32_t fault, PortIndex port, Priority priority) {
  if (faulty().ports[port.index()].ecn[priority.index()].end(fault)) use_ecn(port, priority);
}

// ---- Classification ------------------------------------------------------------------------------------------------

void Switch::use_dscp_map(PortIndex port) {
  const Overrides<std::unique_ptr<TrustMap>>& wrong = faulty().ports[port.index()].trust;
  const TrustMap& meant = config_.ports[port.index()].trust;
  const auto same =
      std::ranges::find_if(trust_maps_, [&](const TrustMap& m) { return std::memcmp(&m, &meant, sizeof m) == 0; });
  PortFacts& f = facts_[port.index()];
  f.trust = wrong.empty() ? &*same : wrong.last().get();
  f.misclassifies = !wrong.empty();
}

void Switch::begin_wrong_dscp_map(std::uint32_t fault, PortIndex port,
                                  const std::vector<std::pair<int, int>>& to_class) {
  auto map = std::make_unique<TrustMap>(config_.ports[port.index()].trust);
  for (const auto& [dscp, to] : to_class)
    map->dscp_to_class[static_cast<std::size_t>(dscp)] = static_cast<std::uint8_t>(to);
  faulty().ports[port.index()].trust.begin(fault, std::move(map));
  use_dscp_map(port);
}

void Switch::end_wrong_dscp_map(std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].trust.end(fault)) use_dscp_map(port);
}

// ---- Longest packet ------------------------------------------------------------------------------------------------

void Switch::use_mtu(PortIndex port) {
  const Overrides<std::uint32_t>& wrong = faulty().ports[port.index()].mtu;
  const std::uint32_t meant = config_.ports[port.index()].mtu;
  PortFacts& f = facts_[port.index()];
  f.mtu = wrong.empty() ? meant : std::min(meant, wrong.last());
  f.largest_frame = f.mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets + wire::kFcsOctets} +
                    config_.telemetry_octets;
}

void Switch::begin_mtu(std::uint32_t fault, PortIndex port, std::uint32_t mtu) {
  faulty().ports[port.index()].mtu.begin(fault, mtu);
  use_mtu(port);
}

void Switch::end_mtu(std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].mtu.end(fault)) use_mtu(port);
}

// ---- Pausing -------------------------------------------------------------------------------------------------------

void Switch::use_pfc_storm(Instant now, PortIndex port) {
  PriorityMask classes = 0;
  faulty().ports[port.index()].storm.for_each(
      [&](PriorityMask more) { classes = static_cast<PriorityMask>(classes | more); });
  EgressPort& e = egress_[port.index()];
  if (e.storm(classes) && !e.busy()) starts_.add(now, port);
}

void Switch::begin_pfc_storm(Instant now, std::uint32_t fault, PortIndex port, PriorityMask classes) {
  faulty().ports[port.index()].storm.begin(fault, classes);
  use_pfc_storm(now, port);
}

void Switch::end_pfc_storm(Instant now, std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].storm.end(fault)) use_pfc_storm(now, port);
}

void Switch::use_pauses(Instant now, PortIndex port) {
  EgressPort& e = egress_[port.index()];
  e.ignore_pauses(now, !faulty().ports[port.index()].ignores_pauses.empty());
  if (!e.busy()) starts_.add(now, port);
}

void Switch::begin_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port) {
  faulty().ports[port.index()].ignores_pauses.begin(fault, true);
  use_pauses(now, port);
}

void Switch::end_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].ignores_pauses.end(fault)) use_pauses(now, port);
}

// ---- The buffer ----------------------------------------------------------------------------------------------------

void Switch::review_groups(Instant now) {
  for (std::size_t i = 0; i < ports() * kPriorities; ++i)
    if (const Mmu::Pfc pfc = mmu_.review(groups_[i]); pfc != Mmu::Pfc::kNothing)
      pfc_wanted(now, i, pfc == Mmu::Pfc::kXoff);
}

void Switch::begin_buffer_taken(Instant now, std::uint32_t fault, Bytes size) {
  const auto cells = static_cast<std::uint32_t>(std::min<std::int64_t>(size.n / mmu_.cell().n, mmu_.total()));
  faulty().taken.begin(fault, mmu_.carve_out(cells));
  settle_headroom(now);
  review_groups(now);
}

void Switch::end_buffer_taken(Instant now, std::uint32_t fault) {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  faulty().taken.for_each([&](std::uint32_t cells) { before += cells; });
  if (!faulty().taken.end(fault)) return;
  faulty().taken.for_each([&](std::uint32_t cells) { after += cells; });
  if (!planted(PlantedBug::kCarveOutStays)) mmu_.give_back(before - after);
  settle_headroom(now);
  review_groups(now);
}

// ---- Watched queues ------------------------------------------------------------------------------------------------

void Switch::watch(std::shared_ptr<QueueWatch> watch) {
  watched_.push_back(watch);
  watches_ = true;
  change_at(done(), [this, watch = std::move(watch)](Instant now) {
    if (std::ranges::find(watched_, watch) != watched_.end()) look_at_once(now, *watch);
  });
}

// What is so already comes true now; a pause that lasts, when it has lasted long enough.
void Switch::look_at_once(Instant now, QueueWatch& w) {
  const EgressPort& e = egress_[w.port.index()];
  if (w.depth_above && e.depth(w.priority) > *w.depth_above) w.came_true.push_back(now);
  const Instant since = w.paused_above ? e.paused_since(w.priority, now) : Instant::never();
  if (since == Instant::never()) return;
  w.paused_since = since;
  const Instant due = std::max(now, since + *w.paused_above);
  w.due = due < e.paused_until(w.priority) ? due : Instant::never();
  if (w.due >= watch_due_) return;
  watch_due_ = w.due;
  set_device_timer();
}

void Switch::unwatch(const QueueWatch& watch) {
  std::erase_if(watched_, [&](const auto& w) { return w.get() == &watch; });
  watches_ = !watched_.empty() || records_int();
}

void Switch::look_at_depth(Instant now, const Arrival& a) {
  for (const auto& w : watched_) {
    if (!w->depth_above || w->port.value != a.port || w->priority.value != a.priority) continue;
    const std::uint64_t depth = egress_[a.port].depth(w->priority);
    if (depth > *w->depth_above && depth - a.octets <= *w->depth_above) w->came_true.push_back(now);
  }
}

void Switch::look_at_pauses(Instant now, PortIndex port, PriorityMask before, PriorityMask enable) {
  for (const auto& w : watched_) {
    if (!w->paused_above || w->port != port || (enable & bit(w->priority)) == 0) continue;
    w->on_pause(now, (before & bit(w->priority)) != 0, egress_[port.index()].paused_until(w->priority));
    if (w->due >= watch_due_) continue;
    watch_due_ = w->due;
    set_device_timer();
  }
}

void Switch::on_watches_due(Instant now) {
  watch_due_ = Instant::never();
  for (const auto& w : watched_) {
    if (w->due <= now) {
      w->due = Instant::never();
      w->came_true.push_back(now);
    }
    watch_due_ = std::min(watch_due_, w->due);
  }
}

// ---- The whole switch ----------------------------------------------------------------------------------------------

void Switch::crash(Instant now) {
  for (std::uint16_t p = 0; p < ports(); ++p) drop_queued(now, PortIndex{p}, kAllPriorities, DropReason::kCrash);
  for (const Carried& c : carried_) {
    // It has come in, and nothing has been counted of it yet.
    groups_[c.arrival.origin].rx_packets.increment();
    groups_[c.arrival.origin].rx_octets.add(c.arrival.octets);
    drop(now, c.arrival, DropReason::kCrash);
  }
  carried_.clear();
  for (const Arrival& a : awaiting_) drop(now, a, DropReason::kCrash);
  awaiting_.clear();
  // What it was told is in its configuration; what it has learnt it has forgotten.
  for (std::uint16_t p = 0; p < ports(); ++p)
    if (facts_[p].peer_known && !config_.ports[p].peer_mac) forget_peer(PortIndex{p});
}

}  // namespace railyard
