#include "dataplane/device/device.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dataplane/base/assert.h"

namespace railyard {

namespace {

Lane lane_of(EventKind kind) noexcept { return kind == EventKind::kArrival ? Lane::kData : Lane::kMacControl; }

Duration control_flight(BitRate rate, Framing framing, Duration propagation) noexcept {
  return OctetTime(rate).of(framing.to_tail(kLeastFrameOctets)) + propagation;
}

// Longer than any frame; and the sender may be a window behind, which is at most propagation and latency.
Duration on_the_way(BitRate rate, Duration propagation, Duration latency) noexcept {
  return Bytes{1 << 16} / rate + 2 * (propagation + latency);
}

}  // namespace

Device::Device(DeviceId id, std::string name, std::size_t ports)
    : delivered_(ports),
      inboxes_(ports),
      data_((ports + 63) / 64),
      control_(data_.size()),
      ingress_(ports),
      taps_(ports, nullptr),
      id_(id),
      name_(std::move(name)) {
  RAILYARD_ASSERT(ports <= EventKey::kMaxPorts, "a device has more ports than event keys can name");
}

void Device::connect(PortIndex port, Channel& in, Channel& out, BitRate rate) {
  Ingress& i = ingress_[port.index()];
  inboxes_[port.index()].channel = &in;
  const std::size_t word = port.index() / 64;
  const auto bit = static_cast<std::uint8_t>(port.index() % 64);
  in.deliver_to({&data_[word].rung, bit}, {&control_[word].rung, bit});
  i.data_latency = in.data_latency;
  i.propagation = in.propagation;
  i.framing = in.framing;
  i.control_flight = control_flight(rate, in.framing, in.propagation);
  i.on_the_way = on_the_way(rate, in.propagation, std::max(in.data_latency, in.control_latency));
  i.rate = rate;
  i.peer_response = out.control_latency;
  connected(port, out, rate);
}

Instant Device::advance(Instant until) {
  if (until <= done_) return next_;
  if (until <= scheduled_next_ && until <= slice_limit_) [[likely]] {
    next_ = run(until);
    done_ = until;
    return next_ = std::min(next_, scheduled_next_);
  }
  while (!scheduled_.empty() && scheduled_.back().at < until) {
    const Instant at = scheduled_.back().at;
    run_slices(at);
    while (!scheduled_.empty() && scheduled_.back().at == at) {
      const Scheduled now = std::move(scheduled_.back());
      scheduled_.pop_back();
      now.act(at);
    }
  }
  scheduled_next_ = scheduled_.empty() ? Instant::never() : scheduled_.back().at;
  return next_ = std::min(run_slices(until), scheduled_next_);
}

Instant Device::run_slices(Instant until) {
  Instant next = until;
  while (done_ < until) {
    const Instant end = std::min(until, done_ + kLongestSlice);
    if (end - key_base_ > 2 * kLongestSlice) {
      key_base_ = done_;
      slice_limit_ = key_base_ + kLongestSlice;
      on_new_key_base();
    }
    next = run(end);
    done_ = end;
  }
  return next;
}

Instant Device::schedule(Instant at, bool snapshot, std::function<void(Instant)> act) {
  RAILYARD_ASSERT(at >= done_, "a change in a device's past");
  Scheduled entry{at, snapshot, scheduled_count_++, std::move(act)};
  const auto later = [](const Scheduled& a, const Scheduled& b) {
    return std::tie(a.at, a.snapshot, a.order) > std::tie(b.at, b.snapshot, b.order);
  };
  scheduled_.insert(std::upper_bound(scheduled_.begin(), scheduled_.end(), entry, later), std::move(entry));
  scheduled_next_ = scheduled_.back().at;
  return next_ = std::min(next_, at);
}

Instant Device::change_at(Instant at, std::function<void(Instant)> change) {
  return schedule(at, false, std::move(change));
}

Instant Device::snapshot_at(Instant at, std::function<void(DeviceCounters)> take) {
  return schedule(at, true, [this, take = std::move(take)](Instant now) {
    DeviceCounters c = counters();
    c.at = now;
    take(std::move(c));
  });
}

void Device::link_down_at(Instant at, PortIndex port) {
  change_at(at, [this, port](Instant now) {
    ingress(port).wanted_up = false;
    if (ingress(port).held_down == 0) go_down(now, port);
  });
}

void Device::link_up_at(Instant at, PortIndex port) {
  change_at(at, [this, port](Instant now) {
    ingress(port).wanted_up = true;
    if (ingress(port).held_down == 0) go_up(now, port);
  });
}

void Device::begin_down(Instant now, PortIndex port) {
  Ingress& in = ingress(port);
  if (in.held_down++ == 0 && in.wanted_up) go_down(now, port);
}

void Device::end_down(Instant now, PortIndex port) {
  Ingress& in = ingress(port);
  RAILYARD_ASSERT(in.held_down > 0, "a fault has the link down");
  if (--in.held_down == 0 && in.wanted_up) go_up(now, port);
}

void Device::go_down(Instant now, PortIndex port) {
  Ingress& in = ingress(port);
  if (in.up) context().topology_events.push_back({now, id_, TopologyEvent::Kind::kLinkDown, port});
  in.up = false;
  std::erase_if(in.downs, [&](Instant down) { return down + in.on_the_way < now; });
  in.downs.push_back(now);
  inboxes_[port.index()].link_was_down = true;
  troubled_ = true;
  on_link_down(now, port);
}

void Device::go_up(Instant now, PortIndex port) {
  if (!ingress(port).up) context().topology_events.push_back({now, id_, TopologyEvent::Kind::kLinkUp, port});
  ingress(port).up = true;
  on_link_up(now, port);
}

void Device::note_drained(Instant now, bool on) {
  context().topology_events.push_back({now, id_, on ? TopologyEvent::Kind::kDrained : TopologyEvent::Kind::kUndrained});
}

void Device::note_bfd(Instant now, PortIndex port, bool up) {
  context().topology_events.push_back(
      {now, id_, up ? TopologyEvent::Kind::kBfdUp : TopologyEvent::Kind::kBfdDown, port});
}

void Device::begin_degraded(Instant now, PortIndex port, Way way, std::uint32_t fault, Share share) {
  Ingress& in = ingress(port);
  (way == Way::kSends ? in.sends_less : in.receives_less).begin(fault, share);
  use_rate(now, port);
}

void Device::end_degraded(Instant now, PortIndex port, Way way, std::uint32_t fault) {
  Ingress& in = ingress(port);
  if ((way == Way::kSends ? in.sends_less : in.receives_less).end(fault)) use_rate(now, port);
}

void Device::set_rate_at(Instant at, PortIndex port, BitRate rate, Duration peer_response) {
  RAILYARD_ASSERT(rate.bps > 0, "a link has a rate");
  change_at(at, [=, this](Instant now) {
    ingress(port).rate = rate;
    ingress(port).peer_response = peer_response;
    use_rate(now, port);
  });
}

void Device::use_rate(Instant now, PortIndex port) {
  Ingress& in = ingress(port);
  const auto left_of = [&in](const Overrides<Share>& less) {
    if (less.empty()) return in.rate;
    const Share share = less.last();
    return BitRate{
        static_cast<std::int64_t>(static_cast<Int128>(in.rate.bps) * share.numerator / share.denominator)};
  };
  const BitRate sends = left_of(in.sends_less);
  const BitRate receives = left_of(in.receives_less);
  Duration peer_response = in.peer_response;
  if (receives != in.rate) {
    RAILYARD_ASSERT(in.far != nullptr, "who is at the far end of a degraded link is known");
    // It stops sending: what counts is the rate at which it sends.
    peer_response = in.far->pause_response(receives);
  }
  std::erase_if(in.earlier, [&](const auto& e) { return e.begun_before + in.on_the_way < now; });
  in.earlier.push_back({now, in.control_flight});
  in.control_flight = control_flight(receives, in.framing, in.propagation);
  // What is on its way at the old rate is so for as long as before.
  in.on_the_way = std::max(in.on_the_way, on_the_way(receives, in.propagation,
                                                      std::max(data_latency(), pause_response(sends))));
  on_new_rate(now, port, sends, peer_response);
}

LinkFaults& Device::link_faults(PortIndex port, Duration longest) {
  link_faults_.resize(ingress_.size());
  std::unique_ptr<LinkFaults>& faults = link_faults_[port.index()];
  if (faults == nullptr) faults = std::make_unique<LinkFaults>();
  inboxes_[port.index()].faults = faults.get();
  troubled_ = true;
  ingress(port).on_the_way += longest;
  return *faults;
}

void Device::prune_link_faults(Instant now, PortIndex port) {
  if (inboxes_[port.index()].faults == nullptr) return;
  std::unique_ptr<LinkFaults>& faults = link_faults_[port.index()];
  Ingress& in = ingress(port);
  // What arrived before now may still have to pass.
  if (now < faults->last_end() + in.on_the_way || faults->held() != 0) {
    if (!faults->all_ended(now)) return;
    change_at(now + in.on_the_way, [this, port](Instant later) { prune_link_faults(later, port); });
    return;
  }
  in.lost_to_faults.add(faults->lost());
  in.duplicated.add(faults->duplicated());
  inboxes_[port.index()].faults = nullptr;
  faults.reset();
  look_for_trouble();
}

void Device::retry_frames(PortIndex port, const LinkRetryConfig& config) {
  link_retries_.resize(ingress_.size());
  std::unique_ptr<LinkRetry>& retry = link_retries_[port.index()];
  retry = std::make_unique<LinkRetry>(config, ingress(port).propagation);
  on_link_retry(port, *retry);
}

void Device::add_retried_fault(PortIndex port, std::shared_ptr<FrameFault> fault) {
  RAILYARD_ASSERT(link_retry(port) != nullptr, "only a link with LLR mends faults");
  LinkRetry& retry = *link_retries_[port.index()];
  retry.add(std::move(fault));
  on_link_retry(port, retry);
}

void Device::prune_retried_faults(Instant now, PortIndex port) {
  LinkRetry& retry = *link_retries_[port.index()];
  retry.prune(now);
  on_link_retry(port, retry);
}

void Device::look_for_trouble() noexcept {
  troubled_ = std::ranges::any_of(inboxes_, [](const Inbox& i) { return i.link_was_down || i.faults != nullptr; });
}

void Device::for_each_coming(const std::function<void(const Packet&)>& see) const {
  near_.for_each([&](const NearFrame& n) { see(*n.frame.packet); });
  for (const auto& faults : link_faults_)
    if (faults != nullptr) faults->for_each_held(see);
}

Instant Device::arrival_of(const Ingress& in, const InFlight& frame, EventKind kind) const noexcept {
  if (kind != EventKind::kMacControl) return frame.effect - in.data_latency;
  // Not from its effect: what was pushed after a response has become shorter may have waited for its turn.
  const auto earlier = std::ranges::find_if(in.earlier, [&](const auto& e) { return frame.start < e.begun_before; });
  return frame.start + (earlier != in.earlier.end() ? earlier->control_flight : in.control_flight);
}

bool Device::lost_on_the_wire(const Ingress& in, const InFlight& frame, EventKind kind) const noexcept {
  const Instant arrival = arrival_of(in, frame, kind);
  return std::any_of(in.downs.begin(), in.downs.end(),
                     [&](Instant down) { return frame.start < down && down <= arrival; });
}

bool Device::lost_with_link(const Inbox& inbox, PortIndex port, const InFlight& frame, EventKind kind) {
  Ingress& in = ingress(port);
  if (!inbox.link_was_down || !lost_on_the_wire(in, frame, kind)) return false;
  in.lost.increment();
  if (kind == EventKind::kArrival) note_loss(frame.effect);
  pool().release(frame.packet);
  return true;
}

inline void Device::deliver(PortIndex port, EventKind kind, Instant effect, Packet* packet) {
  // Metadata and, in the next line, the headers.
  __builtin_prefetch(packet, 1);
  __builtin_prefetch(reinterpret_cast<const std::byte*>(packet) + sizeof(Packet), 1);
  arrivals().add(EventKey::make_near(key_base_, effect, kind, port.value), packet);  // it is due in this slice
  delivered_[port.index()].increment();
}

// What takes effect before `until` of what comes from the same worker. Returns the earliest effect that remains.
inline Instant Device::collect_near(Instant until) {
  if (troubled_) [[unlikely]]
    return collect_near_troubled(until);
  return near_.take_until(until, [&](const NearFrame& n) {
    RAILYARD_ASSERT(n.frame.effect >= done_, "causality: a frame takes effect in a device's past");
    deliver(n.port, n.kind, n.frame.effect, n.frame.packet);
  });
}

// The same where links have faults or were down.
Instant Device::collect_near_troubled(Instant until) {
  Instant rest = near_.take_until(until, [&](const NearFrame& n) {
    RAILYARD_ASSERT(n.frame.effect >= done_, "causality: a frame takes effect in a device's past");
    Inbox& inbox = inboxes_[n.port.index()];
    if (lost_with_link(inbox, n.port, n.frame, n.kind)) return;
    if (inbox.faults != nullptr)
      pass_faults(inbox, n.port, n.frame, n.kind);
    else
      deliver(n.port, n.kind, n.frame.effect, n.frame.packet);
  });
  for (std::size_t p = 0; p < inboxes_.size(); ++p) {
    Inbox& inbox = inboxes_[p];
    if (inbox.faults == nullptr || !inbox.channel->near()) continue;
    for (const EventKind kind : {EventKind::kArrival, EventKind::kMacControl})
      rest = std::min(rest, release_held(inbox, PortIndex{static_cast<std::uint16_t>(p)}, kind, until));
  }
  return rest;
}

// Takes the frames of one FIFO that take effect before `until`. Returns the effect of the next one.
inline Instant Device::take(Inbox& inbox, PortIndex port, Channel::Fifo& fifo, EventKind kind, Instant until) {
  if (inbox.faults != nullptr) [[unlikely]]
    return take_faulty(inbox, port, fifo, kind, until);
  const InFlight* f = fifo.front();
  for (; f != nullptr && f->effect < until; f = fifo.front()) {
    RAILYARD_ASSERT(f->effect >= done_, "causality: a frame takes effect in a device's past");
    const InFlight frame = *f;
    fifo.pop();
    if (inbox.link_was_down && lost_with_link(inbox, port, frame, kind)) [[unlikely]]
      continue;
    deliver(port, kind, frame.effect, frame.packet);
  }
  return f != nullptr ? f->effect : Instant::never();
}

// The same through the stage of faults. Frames are lost with the link as late as the faults have them arrive.
Instant Device::take_faulty(Inbox& inbox, PortIndex port, Channel::Fifo& fifo, EventKind kind, Instant until) {
  const InFlight* f = fifo.front();
  for (; f != nullptr && f->effect < until; f = fifo.front()) {
    RAILYARD_ASSERT(f->effect >= done_, "causality: a frame takes effect in a device's past");
    const InFlight frame = *f;
    fifo.pop();
    if (!lost_with_link(inbox, port, frame, kind)) pass_faults(inbox, port, frame, kind);
  }
  const Instant held = release_held(inbox, port, kind, until);
  return f != nullptr ? std::min(f->effect, held) : held;
}

void Device::pass_faults(Inbox& inbox, PortIndex port, const InFlight& frame, EventKind kind) {
  const CreditStamp credits = kind == EventKind::kArrival ? frame.packet->credits : CreditStamp{};
  const std::uint64_t lost_before = inbox.faults->lost();
  inbox.faults->pass(lane_of(kind), frame.packet, frame.effect, frame.start, arrival_of(ingress(port), frame, kind),
                     pool(), [&](Packet* packet, Instant effect, Instant start) {
                       if (!lost_with_link(inbox, port, {effect, start, packet}, kind))
                         deliver(port, kind, effect, packet);
                     });
  if (inbox.faults->lost() == lost_before) return;
  if (kind == EventKind::kArrival) note_loss(frame.effect);
  if (credits.cells != 0) on_credits_lost(frame.effect, port, credits);
}

// What the faults of a port have held back until before `until` goes on. Returns when the next does.
Instant Device::release_held(Inbox& inbox, PortIndex port, EventKind kind, Instant until) {
  inbox.faults->release(lane_of(kind), until, [&](Packet* packet, Instant effect, Instant start) {
    if (!lost_with_link(inbox, port, {effect, start, packet}, kind)) deliver(port, kind, effect, packet);
  });
  return inbox.faults->next(lane_of(kind));
}

// All ports whose FIFO of one kind holds something that takes effect before `until`. Returns the earliest effect that
// remains.
template <EventKind kind>
inline Instant Device::collect_kind(std::vector<Watch>& watches, Instant until) {
  constexpr bool kData = kind == EventKind::kArrival;
  Instant rest = Instant::never();
  for (std::size_t w = 0; w < watches.size(); ++w) {
    Watch& watch = watches[w];
    const std::uint64_t rung = watch.rung.take();
    // What waits is looked at when the first of it is due; until then what is new is enough.
    const std::uint64_t looked_at = watch.next < until ? watch.waiting | rung : rung;
    Instant least = watch.next < until ? Instant::never() : watch.next;
    std::uint64_t waiting = watch.waiting & ~looked_at;
    for (std::uint64_t m = looked_at; m != 0; m &= m - 1) {
      const std::size_t p = w * 64 + static_cast<std::size_t>(std::countr_zero(m));
      Inbox& inbox = inboxes_[p];
      Instant& next = kData ? inbox.next_data : inbox.next_control;
      if ((rung & m & -m) != 0 || next < until)
        next = take(inbox, PortIndex{static_cast<std::uint16_t>(p)},
                    kData ? inbox.channel->data : inbox.channel->control, kind, until);
      least = std::min(least, next);
      if (next != Instant::never()) waiting |= m & -m;
    }
    rest = std::min(rest, least);
    watch.next = least;
    watch.waiting = waiting;
  }
  return rest;
}

Instant Device::collect_rings(Instant until) {
  const Instant data = collect_kind<EventKind::kArrival>(data_, until);
  return std::min(data, collect_kind<EventKind::kMacControl>(control_, until));
}

Instant Device::collect(Instant until) {
  arrivals().clear();
  Instant rest = collect_near(until);
  if (rings_) rest = std::min(rest, collect_rings(until));
  arrivals().sort(EventKey::floor(key_base_, done_), EventKey::floor(key_base_, until));
  return rest;
}

void Device::tap(PortIndex port, Tap* tap) {
  taps_.at(port.index()) = tap;
  tapped_ = std::any_of(taps_.begin(), taps_.end(), [](const Tap* t) { return t != nullptr; });
  review_observed();
}

void Device::record_int(bool on, IntSource* source) {
  notes_ = static_cast<std::uint8_t>((notes_ & ~unsigned{QueuedFrame::kSampled}) | (on ? unsigned{QueuedFrame::kSampled} : 0u));
  int_source_ = source;
  review_observed();
  on_record_int();
}

void Device::digest_departures(bool on) {
  digest_on_ = on;
  review_observed();
}

void Device::observe_departure(Instant now, PortIndex port, const Packet& packet, const TapNote& note) {
  if (digest_on_) digest_.departure(id_, port, now, packet);
  observe(now, port, packet, note);
}

DeviceCounters Device::counters() const {
  if (told_ != nullptr) return told_->counters;
  DeviceCounters c = live_counters();
  c.at = done_;
  for (std::size_t p = 0; p < inboxes_.size(); ++p)
    if (inboxes_[p].faults != nullptr) c.ports[p].held_back = inboxes_[p].faults->held();
  count_rest(c);
  return c;
}

DeviceCounters Device::live_counters() const {
  if (told_ != nullptr) return told_->counters;
  DeviceCounters c;
  c.name = name_;
  c.ports.resize(ingress_.size());
  for (std::size_t p = 0; p < ingress_.size(); ++p) {
    c.ports[p].delivered = delivered_[p].read();
    const Ingress& in = ingress_[p];
    c.ports[p].lost = in.lost.read();
    c.ports[p].lost_to_faults = in.lost_to_faults.read();
    c.ports[p].duplicated = in.duplicated.read();
    if (const LinkFaults* faults = inboxes_[p].faults; faults != nullptr) [[unlikely]] {
      c.ports[p].lost_to_faults += faults->lost();
      c.ports[p].duplicated += faults->duplicated();
    }
    c.ports[p].lost += c.ports[p].lost_to_faults;
    if (const LinkRetry* retry = link_retry(PortIndex{static_cast<std::uint16_t>(p)}); retry != nullptr)
      c.ports[p].llr = retry->counters();
  }
  count_live(c);
  return c;
}

}  // namespace railyard
