#include "dataplane/switch/switch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dataplane/device/pause_response.h"
#include "dataplane/device/pfc_frame.h"

namespace railyard {

Duration Switch::pause_response(BitRate rate) const noexcept {
  return config_.pause_response > Duration{} ? config_.pause_response : standard_pause_response(rate);
}

void Switch::set_ecn(PortIndex port, Priority priority, const EcnConfig& ecn) {
  config_.ports[port.index()].classes[priority.index()].ecn = ecn;
  use_ecn(port, priority);
}

void Switch::set_wred(PortIndex port, Priority priority, const WredConfig& wred) {
  config_.ports[port.index()].classes[priority.index()].wred = wred;
  if (wred.any() && drop_laws_.empty()) drop_laws_.resize(queues_.size());
  Queue& queue = queues_[index(port, priority)];
  queue.stops = static_cast<std::uint8_t>((queue.stops & ~unsigned{Queue::kWred}) | (wred.any() ? Queue::kWred : 0));
  if (!drop_laws_.empty()) drop_laws_[index(port, priority)] = DropLaw(wred, mmu_.cell());
}

void Switch::set_routes(std::shared_ptr<const FecTable> fecs, std::span<const Route> routes) {
  config_.fecs = std::move(fecs);
  forwarding_ = ForwardingTable(*config_.fecs, routes);
  paths_.set_table(forwarding_);
  use_tables_beyond();
  set_quality_due();
}

void Switch::connected(PortIndex port, Channel& out, BitRate rate) {
  EgressPort& e = egress_[port.index()];
  e.connect(out, rate);
  e.announce(config_.pause_quanta);
  facts_[port.index()].octet_time = OctetTime(rate);
  paths_.set_rate(port, rate);
  telemetry_rates_[port.index()] = HopTelemetry::rate_of(rate);
  reporter_.set_rate(port, rate, out.framing);
  if (!facts_[port.index()].peer_known) ++strangers_;
}

void Switch::on_new_key_base() {
  for (std::size_t p = 0; p < ports(); ++p)
    slots_.set(p, EventKey::make(key_base(), egress_[p].slot(),
                                 egress_[p].busy() ? EventKind::kTransmitEnd : EventKind::kTimer,
                                 static_cast<std::uint32_t>(p)));
  set_device_timer();
}

// ---- The order of events ------------------------------------------------------------------------------------------

Instant Switch::run(Instant until) {
  Instant rest = collect(until);
  ArrivalBatch& batch = arrivals();
  if (records_int()) [[unlikely]]
    note_arrivals();
  // Decisions depend on the frame and the tables only, and tables change between slices: they are made in one go, with
  // the packets on their way into the cache. A tap must see a frame as it came in, before it is rewritten.
  if (!tapped()) {
    for (Arrival& a : batch) {
      if (EventKey::kind(a.key) == EventKind::kArrival) decide_port(a);
    }
    for (Arrival& a : batch) {
      if (EventKey::kind(a.key) == EventKind::kArrival) decide_rest(a);
    }
  } else {
    for (Arrival& a : batch) a.verdict = kUndecided;
  }
  for (; !carried_.empty() && carried_.back().at < until; carried_.pop_back()) {
    const Carried& c = carried_.back();
    batch.insert(c.arrival, EventKey::make(key_base(), c.at, EventKind::kArrival, EventKey::port(c.arrival.key)));
  }

  const std::uint64_t limit = EventKey::floor(key_base(), until);
  const Instant base = key_base();
  Arrival* next = batch.begin();
  for (;;) {
    const std::uint64_t arrival = next->key;
    const std::uint64_t slot = slots_.min();
    const std::uint64_t key = std::min(arrival, slot);
    const std::uint64_t tick = EventKey::ticks(key);
    if (!starts_.empty() && base + Duration{static_cast<std::int64_t>(tick)} > starts_.at()) {
      starts_.flush([this](Instant now, PortIndex port) { start(now, port); });
      continue;  // the slots have moved
    }
    if (key >= limit) break;
    const Instant now = base + Duration{static_cast<std::int64_t>(tick)};
    const PortIndex port{static_cast<std::uint16_t>(EventKey::port(key))};
    if (slot < arrival) {
      slots_.pop();
      prefetch(slots_.ahead(2));
      prefetch_departure(slots_.ahead(1));
      prefetch_next(slots_.min());
      if (EventKey::kind(key) == EventKind::kTransmitEnd) [[likely]]
        on_transmit_end(now, port, EventKey::ticks(std::min(arrival, slots_.min())) == tick);
      else
        on_timer(now, port);
    } else if (EventKey::kind(key) == EventKind::kArrival) [[likely]] {
      if (!deferred(now, batch, next, limit)) on_arrival(now, *next++);
    } else {
      on_mac_control(now, port, next++->packet);
    }
  }
  rest = std::min(rest, EventKey::time(key_base(), slots_.min()));
  return carried_.empty() ? rest : std::min(rest, carried_.back().at);
}

// What the end of a transmission touches besides its port, which is here.
void Switch::prefetch_departure(std::uint64_t key) const noexcept {
  const EgressPort* const e = egress_of(key);
  if (e == nullptr) return;
  e->prefetch_departure();
  const QueuedFrame& sending = e->sending();
  if (sending.origin < groups_.size()) __builtin_prefetch(&groups_[sending.origin], 1);
  __builtin_prefetch(&queues_[index(PortIndex{static_cast<std::uint16_t>(EventKey::port(key))}, e->sending_priority())],
                     1);
}

void Switch::prefetch_parts() const noexcept {
  Device::prefetch_parts();
  slots_.prefetch();
  __builtin_prefetch(trust_maps_.data());
}

void Switch::prefetch_contents() const noexcept {
  Device::prefetch_contents();
  for (std::uint32_t i = 0; i < kSlotsAhead; ++i) prefetch(slots_.ahead(i));
  for (const NearFrame& n : coming()) __builtin_prefetch(&facts_[n.port.index()]);
}

void Switch::prefetch_rest() const noexcept {
  for (std::uint32_t i = 0; i < kSlotsAhead; ++i) prefetch_departure(slots_.ahead(i));
  for (const NearFrame& n : coming()) __builtin_prefetch(&forwarding_.lookup(n.frame.packet->fec));
}

// ---- Doing ---------------------------------------------------------------------------------------------------------

// Cut-through: transmission may begin when no octet will be missing, that is not before the tail's arrival less our own
// serialization. A later start defers admission; without faults there is at most one such frame per ingress port.
bool Switch::deferred(Instant now, ArrivalBatch& batch, Arrival* next, std::uint64_t limit) {
  if (!cuts_through()) [[likely]]
    return false;
  Arrival& a = *next;
  if (a.verdict == kUndecided) decide_tapped(now, a);
  if (a.verdict == kAtItsTurn) [[unlikely]]
    decide_path_now(now, a);
  if (a.verdict == kUnresolved) [[unlikely]]
    resolve(a);
  if (a.verdict != kForward || a.octets <= Channel::kCutThroughOctets) return false;
  a.verdict = kStartable;
  const PortFacts& in = facts_[EventKey::port(a.key)];
  const Instant tail = now + in.octet_time.of(a.octets - Channel::kCutThroughOctets);
  const Instant startable = tail - facts_[a.port].octet_time.of(egress_[a.port].framing().to_tail(a.octets));
  if (startable <= now) return false;
  const std::uint64_t key = EventKey::make(key_base(), startable, EventKind::kArrival, EventKey::port(a.key));
  if (key < limit) {
    batch.defer(next, key);
  } else {
    // As batch.defer() does it behind those of the same instant: faults make several of one port.
    const auto later = [](const Carried& c, Instant at) { return c.at > at; };
    carried_.insert(std::lower_bound(carried_.begin(), carried_.end(), startable, later), Carried{startable, a});
    batch.remove(next);
  }
  return true;
}

void Switch::decide_tapped(Instant now, Arrival& a) {
  const PortIndex in{static_cast<std::uint16_t>(EventKey::port(a.key))};
  a.packet->flags = static_cast<std::uint8_t>(a.packet->flags & ~unsigned{Packet::kMarkedHere});
  observe(now, in, *a.packet,
          {.event = TapNote::Event::kReceived, .priority = classify(*facts_[in.index()].trust, *a.packet)});
  decide(a);
}

void Switch::on_arrival(Instant now, Arrival& a) {
  if (a.verdict == kUndecided) [[unlikely]]
    decide_tapped(now, a);
  if (a.verdict == kAtItsTurn) [[unlikely]]
    decide_path_now(now, a);
  if (strangers_ != 0) [[unlikely]]
    meet(now, a);
  Mmu::Group& group = groups_[a.origin];
  group.rx_packets.increment();
  group.rx_octets.add(a.octets);
  CreditStamp credits{};
  if (any_credits_) [[unlikely]]
    credits = credit_arrival(now, PortIndex{static_cast<std::uint16_t>(EventKey::port(a.key))}, *a.packet);
  if (a.verdict == kForward || a.verdict == kStartable) [[likely]]
    admit(now, a);
  else
    on_exception(now, a);
  if (any_credits_) [[unlikely]] {
    credits_changed(now, a.origin);
    credits_changed(now, a.origin / kPriorities * kPriorities + credits.priority);
  }
}

void Switch::on_transmit_end(Instant now, PortIndex port, bool more_now) {
  EgressPort& e = egress_[port.index()];
  e.prefetch_departure();
  const QueuedFrame sent = e.sending();
  e.transmit_end();
  if (sent.packet != nullptr && !planted(PlantedBug::kEarlyCellRelease)) [[likely]]
    release(now, sent, port, e.sending_priority());
  if (!e.has_pending_start()) return;
  // Usually nothing else happens at this instant, and the next transmission starts without a detour.
  if (!more_now && starts_.empty()) [[likely]]
    start(now, port);
  else
    starts_.add(now, port);
}

void Switch::release(Instant now, const QueuedFrame& frame, PortIndex port, Priority priority) {
  if (paths_.by_load()) [[unlikely]] {
    paths_.load(now, port, -std::int32_t{frame.cells});
    look_at_quality(now, port);
  }
  if (mmu_.release(groups_[frame.origin], queues_[index(port, priority)].memory, frame.cells) == Mmu::Pfc::kXon)
      [[unlikely]]
    pfc_wanted(now, frame.origin, false);
  if (any_credits_) [[unlikely]]
    credits_changed(now, frame.origin);
}

void Switch::pfc_wanted(Instant now, std::size_t group, bool xoff) {
  if (groups_[group].blocked) [[unlikely]] {
    if (xoff || (queues_[group].stops & Queue::kStorm) != 0) return;  // said when the storm is over, if it still holds
    groups_[group].blocked = false;  // drained after a storm
  }
  const PortIndex port{static_cast<std::uint16_t>(group / kPriorities)};
  EgressPort& e = egress_[port.index()];
  const Priority priority{static_cast<std::uint8_t>(group % kPriorities)};
  const bool say = e.want_pause(priority, xoff && (config_.ports[port.index()].pfc.tx & bit(priority)) != 0);
  if (say && !e.busy()) starts_.add(now, port);
}

void Switch::start(Instant now, PortIndex port) {
  EgressPort& e = egress_[port.index()];
  if (e.busy()) return;
  if (!facts_[port.index()].up) [[unlikely]]
    return slots_.set(port.index(), EventKey::kNone);
  e.start(
      now,
      [&](Packet& packet, Priority priority) {
        if (planted(PlantedBug::kEarlyCellRelease)) release(now, e.sending(), port, priority);
        if (any_mark_at_dequeue_) [[unlikely]] {
          Queue& queue = queues_[index(port, priority)];
          if (queue.mark_at_dequeue) mark(now, queue, queue.memory.cells - e.sending().cells, packet);
        }
        if (observed()) [[unlikely]]
          observe_start(now, port, priority, packet);
      },
      [&](PriorityMask mask, const std::array<std::uint16_t, kPriorities>& quanta) {
        Packet* frame = make_pfc_frame(pool(), config_.ports[port.index()].mac, mask, quanta);
        if (frame == nullptr) return frame;
        generated_.increment();
        if (observed()) observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
        return frame;
      },
      [&] { return make_report(now, port); },
      [&](const wire::CreditMessage& message) { return make_credit_message(now, port, message); });
  slots_.set(port.index(),
             EventKey::make(key_base(), e.slot(), e.busy() ? EventKind::kTransmitEnd : EventKind::kTimer, port.value));
  if ((e.sent_control() || e.has_credits()) && e.refresh_due() < refresh_due_) [[unlikely]]
    set_refresh(e.refresh_due());
}

void Switch::observe_start(Instant now, PortIndex port, Priority priority, Packet& packet) {
  const unsigned notes = egress_[port.index()].sending().notes;
  if ((notes & QueuedFrame::kSampled) != 0)
    if (IntStack* stack = int_stack(packet); stack != nullptr)
      stack->depart(now, packet.frame_octets, packet.has(Packet::kMarkedHere));
  if ((notes & QueuedFrame::kTelemetry) != 0) add_hop(now, port, priority, packet);
  if (notes_departures()) observe_departure(now, port, packet, departure_note(port, priority, packet));
}

TapNote Switch::departure_note(PortIndex port, Priority priority, const Packet& packet) const noexcept {
  const EgressPort& e = egress_[port.index()];
  return {.event = TapNote::Event::kSent,
          .priority = priority,
          .depth_octets = static_cast<std::int64_t>(e.depth(priority)) - e.sending().octets,
          .marked_here = packet.has(Packet::kMarkedHere)};
}

void Switch::set_refresh(Instant due) {
  refresh_due_ = due;
  set_device_timer();
}

void Switch::set_device_timer() {
  slots_.set(ports(), EventKey::make(key_base(), std::min({refresh_due_, watchdog_due_, watch_due_, quality_due_,
                                                         bfd_ == nullptr ? Instant::never() : bfd_->due()}),
                                     EventKind::kTimer, static_cast<std::uint32_t>(ports())));
}

// A port's pause may have run out; standing XOFFs must be repeated; the watchdog looks.
void Switch::on_timer(Instant now, PortIndex port) {
  if (port.index() < ports()) return starts_.add(now, port);
  if (watchdog_due_ <= now) poll_watchdog(now);
  if (watch_due_ <= now) on_watches_due(now);  // whose watch it was may be gone
  if (quality_due_ <= now) on_quality_due(now);
  if (bfd_ != nullptr) on_bfd_due(now);
  Instant next = Instant::never();
  for (std::size_t p = 0; p < ports(); ++p) {
    EgressPort& e = egress_[p];
    if (e.refresh_due() <= now) {
      e.refresh(now);
      if (!e.busy()) starts_.add(now, PortIndex{static_cast<std::uint16_t>(p)});
    }
    next = std::min(next, e.refresh_due());
  }
  set_refresh(next);
}

// ---- Link state ----------------------------------------------------------------------------------------------------

void Switch::on_link_down(Instant now, PortIndex port) {
  EgressPort& e = egress_[port.index()];
  facts_[port.index()].up = false;
  paths_.set_up(port, false);
  e.link_down(now);
  if (watches_) look_at_pauses(now, port, 0, 0xFF);
  drop_queued(now, port, kAllPriorities, DropReason::kLinkDown);
  quality_link(now, port, false);
  bfd_link(now, port, false);
  control_link(port, false);
  if (!e.busy()) slots_.set(port.index(), EventKey::kNone);
}

void Switch::drop_queued(Instant now, PortIndex port, PriorityMask classes, DropReason reason) {
  EgressPort& e = egress_[port.index()];
  while (const unsigned rest = e.nonempty() & classes) {
    const Priority priority{static_cast<std::uint8_t>(std::countr_zero(rest))};
    const bool has_departed = e.retries(priority);
    const QueuedFrame frame = e.flush(priority);
    if (has_departed && records_int()) [[unlikely]]
      if (IntStack* stack = int_stack(*frame.packet); stack != nullptr) stack->take_back();
    release(now, frame, port, priority);
    Arrival a{};
    a.packet = frame.packet;
    a.port = port.value;
    a.priority = priority.value;
    drop(now, a, reason);
  }
}

void Switch::on_link_up(Instant now, PortIndex port) {
  if (!planted(PlantedBug::kStaleRoute)) facts_[port.index()].up = true;
  paths_.set_up(port, true);
  egress_[port.index()].link_up(now);
  quality_link(now, port, true);
  bfd_link(now, port, true);
  control_link(port, true);
  // What still has to be said about pausing is said again.
  if (!egress_[port.index()].busy()) starts_.add(now, port);
}

}  // namespace railyard
