// What happens in a switch when its settings or the rate of a link become others. Each runs as a change: before all
// other events of its instant, with no frame half handled.
#include <algorithm>

#include "dataplane/base/assert.h"
#include "dataplane/switch/switch.h"

namespace railyard {

using namespace literals;

namespace {

// How long after it could not be done yet a change of headroom is tried again.
constexpr Duration kTryAgain = 10_us;

}  // namespace

void Switch::apply(Instant now, const SwitchSettings& settings) {
  RAILYARD_ASSERT(settings.ports.size() == ports(), "settings for each port");
  for (std::uint16_t p = 0; p < ports(); ++p) {
    std::array<ClassScheduling, kPriorities> before;
    std::array<ClassScheduling, kPriorities> after;
    for (std::uint8_t c = 0; c < kPriorities; ++c) {
      before[c] = config_.ports[p].classes[c].scheduling;
      after[c] = settings.ports[p].classes[c].scheduling;
      apply_class(now, PortIndex{p}, Priority{c}, settings.ports[p].classes[c]);
    }
    if (after != before) egress_[p].schedule(after, facts_[p].largest_frame);
    apply_pfc(now, PortIndex{p}, settings.ports[p].pfc);
  }
  apply_headroom(now, settings);
  const bool had_loads = paths_.by_load();
  const bool quality = apply_quality(settings);
  set_paths(settings.paths, had_loads);
  if (quality) review_quality(now);
}

void Switch::apply_pfc(Instant now, PortIndex port, const PfcEnable& to) {
  PfcEnable& pfc = config_.ports[port.index()].pfc;
  if (pfc == to) return;
  pfc = to;
  EgressPort& e = egress_[port.index()];
  e.obey_pauses(now, to.rx);
  for (std::uint8_t c = 0; c < kPriorities; ++c) {
    const std::size_t group = index(port, Priority{c});
    pfc_wanted(now, group, groups_[group].xoff);
  }
  if (!e.busy() && e.has_pending_start()) starts_.add(now, port);
}

void Switch::set_paths(const PathSelectorConfig& paths, bool had_loads) {
  paths_.set(paths);
  config_.paths = paths;
  if (had_loads || !paths_.by_load()) return;
  // Nobody has kept count until now.
  for (std::uint16_t p = 0; p < ports(); ++p) {
    std::uint32_t cells = 0;
    for (std::uint8_t c = 0; c < kPriorities; ++c) cells += queues_[index(PortIndex{p}, Priority{c})].memory.cells;
    paths_.set_load(PortIndex{p}, cells);
  }
}

void Switch::set_peer(Instant now, PortIndex port, std::optional<wire::MacAddress> mac) {
  std::optional<wire::MacAddress>& known = config_.ports[port.index()].peer_mac;
  if (mac && mac == known) return;
  known.reset();
  const PortFacts& f = facts_[port.index()];
  if (mac) {
    learn_peer(now, port, *mac);
  } else if (f.peer_known) {
    forget_peer(port);
  }
  known = mac;
}

void Switch::forget_peer(PortIndex port) {
  PortFacts& f = facts_[port.index()];
  f.peer_known = false;
  if (egress_[port.index()].connected()) ++strangers_;
  std::fill_n(f.rewrite.begin(), sizeof(wire::MacAddress), std::uint8_t{0});
  asked_[port.index()] = Instant{-1};
}

void Switch::apply_class(Instant now, PortIndex port, Priority priority, const SwitchClassConfig& to) {
  SwitchClassConfig& config = config_.ports[port.index()].classes[priority.index()];
  RAILYARD_ASSERT(to.buffer.lossless == config.buffer.lossless && to.buffer.reserved == config.buffer.reserved &&
                      to.buffer.credits == config.buffer.credits &&
                      to.buffer.queue_reserved == config.buffer.queue_reserved,
                  "the kind and the reserved space of a class do not change");
  config.scheduling = to.scheduling;
  if (to.ecn != config.ecn) set_ecn(port, priority, to.ecn);
  if (to.wred != config.wred) set_wred(port, priority, to.wred);
  ClassBuffer limits = to.buffer;
  limits.headroom = config.buffer.headroom;
  if (limits == config.buffer) return;
  config.buffer = limits;
  const std::size_t i = index(port, priority);
  mmu_.set_limits(groups_[i], queues_[i].memory, limits);
  if (const Mmu::Pfc pfc = mmu_.review(groups_[i]); pfc != Mmu::Pfc::kNothing)
    pfc_wanted(now, i, pfc == Mmu::Pfc::kXoff);
}

void Switch::apply_headroom(Instant now, const SwitchSettings& settings) {
  for (std::size_t i = 0; i < ports() * kPriorities; ++i) {
    const SwitchSettings::Port& port = settings.ports[i / kPriorities];
    ClassBuffer& config = config_.ports[i / kPriorities].classes[i % kPriorities].buffer;
    const Bytes after = port.classes[i % kPriorities].buffer.headroom;
    const Bytes most = std::max(after, port.transition_headroom[i % kPriorities]);
    if (after == config.headroom && most == after) continue;
    std::erase_if(less_headroom_, [&](const LessHeadroom& l) { return l.group == i; });
    config.headroom = after;
    const bool more = mmu_.cell() * groups_[i].headroom_limit < most;
    if (more) mmu_.set_headroom(groups_[i], most);
    if (!more || most > after) less_headroom_.push_back({i, after, now + settings.transition});
  }
  settle_headroom(now);
}

void Switch::settle_headroom(Instant now) {
  const bool paid = mmu_.settle();
  std::erase_if(less_headroom_, [&](const LessHeadroom& l) {
    return l.from <= now && mmu_.set_headroom(groups_[l.group], l.headroom);
  });
  if (settles_at_ <= now) settles_at_ = Instant::never();
  if (paid && less_headroom_.empty()) return;
  Instant next = paid ? Instant::never() : now + kTryAgain;
  for (const LessHeadroom& l : less_headroom_) next = std::min(next, std::max(l.from, now + kTryAgain));
  if (next >= settles_at_) return;
  settles_at_ = next;
  change_at(next, [this](Instant at) { settle_headroom(at); });
}

// Cut-through reckons with the rates at which a frame came and will go, and none of them may change in between.
void Switch::on_new_rate(Instant now, PortIndex port, BitRate rate, Duration peer_response) {
  RAILYARD_ASSERT(!cuts_through(), "links of a cut-through switch keep their rate");
  EgressPort& e = egress_[port.index()];
  e.set_rate(now, rate, peer_response);
  facts_[port.index()].octet_time = OctetTime(rate);
  paths_.set_rate(port, rate);
  telemetry_rates_[port.index()] = HopTelemetry::rate_of(rate);
  reporter_.set_rate(port, rate, e.framing());
  look_at_quality(now, port);
  if (e.refresh_due() < refresh_due_) set_refresh(e.refresh_due());
}

}  // namespace railyard
