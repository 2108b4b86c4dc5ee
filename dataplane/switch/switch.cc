#include "dataplane/switch/switch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "dataplane/device/pause_response.h"
#include "dataplane/device/pfc_frame.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/packet/trim.h"
#include "dataplane/wire/rewrite.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

// As the first six octets of a header read in memory order.
std::uint64_t mac_word(wire::MacAddress mac) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, mac.octets.data(), mac.octets.size());
  return word;
}

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw std::invalid_argument(fmt::format("switch {}: {}", name, what));
}

// Before anything is divided by a cell.
const BufferConfig& checked(const BufferConfig& buffer, const std::string& name) {
  if (auto ok = validate(buffer, "buffer"); !ok) refuse(name, ok.error());
  return buffer;
}

}  // namespace

Switch::Switch(DeviceId id, std::string name, SwitchConfig config)
    : Device(id, std::move(name), config.ports.size()),
      config_(std::move(config)),
      mmu_(checked(config_.buffer, this->name())),
      facts_(ports()),
      egress_(ports()),
      queues_(ports() * kPriorities),
      groups_((ports() + 1) * kPriorities),
      slots_(ports() + 1, EventKey::kPortBits),
      starts_(ports()),
      drops_by_class_((ports() + 1) * kPriorities),
      drops_by_port_(ports()),
      asked_(ports(), Instant{-1}),
      rx_control_(ports()),
      history_(ports() * kPriorities) {
  trust_maps_.reserve(ports());
  for (std::size_t p = 0; p < ports(); ++p) {
    const SwitchPortConfig& port = config_.ports[p];
    PortFacts& f = facts_[p];
    f.mac = mac_word(port.mac);
    std::copy(port.mac.octets.begin(), port.mac.octets.end(), f.rewrite.begin() + 6);
    if (port.peer_mac) {
      std::copy(port.peer_mac->octets.begin(), port.peer_mac->octets.end(), f.rewrite.begin());
      f.peer_known = true;
    }
    f.native_vid = port.vlans.native();
    f.mtu = port.mtu;
    f.largest_frame = port.mtu + wire::Ethernet::kOctets + wire::Vlan::kOctets + wire::kFcsOctets;
    f.remaps = !port.remap.identity();
    const auto same = std::find_if(trust_maps_.begin(), trust_maps_.end(),
                                   [&](const TrustMap& m) { return std::memcmp(&m, &port.trust, sizeof m) == 0; });
    f.trust = same != trust_maps_.end() ? &*same : &trust_maps_.emplace_back(port.trust);

    std::array<ClassScheduling, kPriorities> scheduling;
    for (std::uint8_t c = 0; c < kPriorities; ++c) {
      const SwitchClassConfig& k = port.classes[c];
      const std::string where = fmt::format("port {} class {}", p, c);
      if (auto ok = validate(k.buffer, where); !ok) refuse(this->name(), ok.error());
      groups_[p * kPriorities + c] = mmu_.make_group(k.buffer);
      if (auto ok = validate(k.ecn, where + ".ecn"); !ok) refuse(this->name(), ok.error());
      if (k.trim && k.buffer.lossless) refuse(this->name(), where + ".trim: in a lossless class, which drops nothing");
      if (k.trim)
        if (auto ok = validate(*k.trim, Priority{c}, where + ".trim"); !ok) refuse(this->name(), ok.error());
      Queue& queue = queues_[p * kPriorities + c];
      queue.memory = mmu_.make_queue(k.buffer);
      queue.rng = RngStream(config_.seed, fmt::format("{}/{}/queue{}/ecn", this->name(), p, c));
      set_ecn(PortIndex{static_cast<std::uint16_t>(p)}, Priority{c}, k.ecn);
      scheduling[c] = k.scheduling;
    }
    egress_[p].schedule(scheduling, f.largest_frame);
  }
  for (std::uint8_t c = 0; c < kPriorities; ++c) groups_[ports() * kPriorities + c] = mmu_.make_group({});
  if (auto ok = mmu_.commit(); !ok) refuse(this->name(), "buffer: " + ok.error());

  if (config_.pfc_watchdog) {
    if (auto ok = validate(*config_.pfc_watchdog, "pfc_watchdog"); !ok) refuse(this->name(), ok.error());
    watchdogs_.resize(ports() * kPriorities);
  }

  if (config_.fecs == nullptr) config_.fecs = std::make_shared<const FecTable>();
  forwarding_ = ForwardingTable(*config_.fecs, config_.routes);
  for (std::size_t c = 0; c < kPriorities; ++c)
    if (auto ok = validate(config_.paths.by_class[c], fmt::format("class {} path", c)); !ok)
      refuse(this->name(), ok.error());
  paths_ = PathSelector(config_.paths, config_.seed, this->name(), ports(), config_.buffer.cell);
  paths_.set_table(forwarding_);
}

Duration Switch::pause_response(BitRate rate) const noexcept {
  return config_.pause_response > Duration{} ? config_.pause_response : standard_pause_response(rate);
}

void Switch::set_ecn(PortIndex port, Priority priority, const EcnConfig& ecn) {
  config_.ports[port.index()].classes[priority.index()].ecn = ecn;
  use_ecn(port, priority);
}

void Switch::set_routes(std::shared_ptr<const FecTable> fecs, std::span<const Route> routes) {
  config_.fecs = std::move(fecs);
  config_.routes.assign(routes.begin(), routes.end());
  forwarding_ = ForwardingTable(*config_.fecs, config_.routes);
  paths_.set_table(forwarding_);
}

void Switch::connected(PortIndex port, Channel& out, BitRate rate) {
  EgressPort& e = egress_[port.index()];
  e.connect(out, rate);
  e.announce(config_.pause_quanta);
  facts_[port.index()].octet_time = OctetTime(rate);
  paths_.set_rate(port, rate);
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
  // Decisions depend on the frame and the tables only, and tables change between slices: they are made in one go, with
  // the packets on their way into the cache. A tap must see a frame as it came in, before it is rewritten.
  if (!tapped()) {
    for (Arrival& a : batch) {
      if (EventKey::kind(a.key) == EventKind::kArrival) decide(a);
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
      prefetch(slots_.second());
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

// Has what the end of a transmission touches on its way before its turn comes.
void Switch::prefetch(std::uint64_t key) const noexcept {
  const std::size_t port = EventKey::port(key);
  if (port < egress_.size()) egress_[port].prefetch();
}

// ---- Doing ---------------------------------------------------------------------------------------------------------

// Cut-through: transmission may begin when no octet will be missing, that is not before the tail's arrival less our own
// serialization. A later start defers admission; there is at most one such frame per ingress port.
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
  const Instant startable = tail - facts_[a.port].octet_time.of(a.octets + kPreambleOctets);
  if (startable <= now) return false;
  const std::uint64_t key = EventKey::make(key_base(), startable, EventKind::kArrival, EventKey::port(a.key));
  if (key < limit) {
    batch.defer(next, key);
  } else {
    const auto sooner = [](Instant at, const Carried& c) { return at > c.at; };
    carried_.insert(std::upper_bound(carried_.begin(), carried_.end(), startable, sooner), Carried{startable, a});
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
  if (a.verdict == kForward || a.verdict == kStartable) [[likely]]
    admit(now, a);
  else
    on_exception(now, a);
}

void Switch::admit(Instant now, const Arrival& a) {
  const std::size_t q = index(PortIndex{a.port}, Priority{a.priority});
  Queue& queue = queues_[q];
  Mmu::Group& group = groups_[a.origin];
  const std::uint32_t depth = queue.memory.cells;
  if ((queue.stops | std::uint8_t{group.blocked}) != 0 && stopped(now, a, queue, depth)) [[unlikely]]
    return;
  Mmu::Pfc pfc;
  if (const Admission admission = mmu_.admit(group, queue.memory, a.cells, pfc); admission != Admission::kAdmitted)
      [[unlikely]] {
    constexpr std::array kReasons{DropReason::kCount, DropReason::kIngressFull, DropReason::kHeadroomFull,
                                  DropReason::kEgressFull};
    return refused(now, a, kReasons[static_cast<std::size_t>(admission)]);
  }
  if (!queue.mark_at_dequeue && queue.law.may_mark(depth)) mark(now, queue, depth, *a.packet);
  if (pfc == Mmu::Pfc::kXoff) [[unlikely]] {
    if (history_[q].first_xoff == Instant::never()) note_first_xoff(now, q);
    pfc_wanted(now, a.origin, true);
  }
  enqueue(now, a);
}

// An ingress group was filled by a frame for queue `q`. That counts for the queue, unless another of the class is more
// than twice as deep: then the group filled behind that one.
void Switch::note_first_xoff(Instant now, std::size_t q) {
  std::size_t deepest = q;
  for (std::size_t i = q % kPriorities; i < queues_.size(); i += kPriorities)
    if (queues_[i].memory.cells > queues_[deepest].memory.cells) deepest = i;
  if (queues_[q].memory.cells < queues_[deepest].memory.cells / 2) q = deepest;
  if (history_[q].first_xoff == Instant::never()) history_[q].first_xoff = now;
}

inline void Switch::enqueue(Instant now, const Arrival& a) {
  if (paths_.by_load()) [[unlikely]]
    paths_.load(PortIndex{a.port}, a.cells);
  EgressPort& port = egress_[a.port];
  port.enqueue(Priority{a.priority}, {a.packet, a.octets, a.cells, a.origin});
  if (!port.busy()) starts_.add(now, PortIndex{a.port});
  if (watches_) [[unlikely]]
    look_at_depth(now, a);
}

// Whether the frame ends here, before there is talk of memory.
bool Switch::stopped(Instant now, const Arrival& a, Queue& queue, std::uint32_t depth) {
  if ((queue.stops & Queue::kStorm) != 0 || groups_[a.origin].blocked) return drop(now, a, DropReason::kPfcWatchdog), true;
  if (wire::ecn_of(a.packet->traffic_class_octet) != wire::Ecn::kNotEct) return false;
  const std::uint64_t p = queue.law.probability(depth);
  if (p == 0 || queue.rng.next32() >= p) return false;
  return drop(now, a, DropReason::kWred), true;
}

// There is no memory for the frame. One that its queue has no room for may go on as its headers, in another class.
void Switch::refused(Instant now, const Arrival& a, DropReason reason) {
  const std::optional<TrimConfig>& to = config_.ports[a.port].classes[a.priority].trim;
  if (reason != DropReason::kEgressFull || !to || a.packet->trimmed != 0 || !is_ip(a.packet->kind))
    return drop(now, a, reason);
  Packet& packet = *a.packet;
  trim(packet, to->keep, to->dscp);
  if (packet.has(Packet::kTagged)) remark_pcp(packet, *facts_[a.port].trust, to->to);
  Arrival cut = a;
  cut.octets = packet.frame_octets;
  cut.cells = mmu_.cells(cut.octets);
  cut.priority = to->to.value;
  Queue& queue = queues_[index(PortIndex{cut.port}, to->to)];
  const std::uint32_t depth = queue.memory.cells;
  Mmu::Pfc pfc;
  if ((queue.stops & Queue::kStorm) != 0 ||
      mmu_.admit(groups_[a.origin], queue.memory, cut.cells, pfc) != Admission::kAdmitted)
    return drop(now, a, DropReason::kTrimQueueFull);
  history_[index(PortIndex{a.port}, Priority{a.priority})].trimmed.increment();
  if (!queue.mark_at_dequeue) mark(now, queue, depth, packet);
  if (pfc == Mmu::Pfc::kXoff) pfc_wanted(now, a.origin, true);  // a lossless class that goes on in a lossy one
  enqueue(now, cut);
}

void Switch::mark(Instant now, Queue& queue, std::uint32_t depth, Packet& packet) noexcept {
  wire::Ecn in = wire::ecn_of(packet.traffic_class_octet);
  if (planted(PlantedBug::kMarkNotEct) && in == wire::Ecn::kNotEct) in = wire::Ecn::kEct0;
  if (in == wire::Ecn::kNotEct || in == wire::Ecn::kCe) return;
  const std::uint64_t p = queue.law.probability(depth);
  if (p == 0) return;
  if (::railyard::mark(in, p, p >= MarkingLaw::kCertain ? 0 : queue.rng.next32()) != wire::Ecn::kCe) return;
  set_traffic_class(packet, packet.traffic_class_octet | 3);
  packet.flags |= Packet::kMarkedHere;
  queue.marked.increment();
  if (queue.marked.read() == 1) [[unlikely]]
    history_[static_cast<std::size_t>(&queue - queues_.data())].first_ce = now;
}

void Switch::on_transmit_end(Instant now, PortIndex port, bool more_now) {
  EgressPort& e = egress_[port.index()];
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
  if (paths_.by_load()) [[unlikely]]
    paths_.load(port, -std::int32_t{frame.cells});
  if (mmu_.release(groups_[frame.origin], queues_[index(port, priority)].memory, frame.cells) == Mmu::Pfc::kXon)
      [[unlikely]]
    pfc_wanted(now, frame.origin, false);
}

void Switch::pfc_wanted(Instant now, std::size_t group, bool xoff) {
  if (groups_[group].blocked) [[unlikely]]
    return;  // said again, if it still holds, when the storm is over
  const PortIndex port{static_cast<std::uint16_t>(group / kPriorities)};
  EgressPort& e = egress_[port.index()];
  const bool say = e.want_pause(Priority{static_cast<std::uint8_t>(group % kPriorities)}, xoff);
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
          observe_departure(now, port, packet, departure_note(port, priority, packet));
      },
      [&](PriorityMask mask, const std::array<std::uint16_t, kPriorities>& quanta) {
        Packet* frame = make_pfc_frame(pool(), config_.ports[port.index()].mac, mask, quanta);
        if (frame == nullptr) return frame;
        generated_.increment();
        if (observed()) observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
        return frame;
      });
  slots_.set(port.index(),
             EventKey::make(key_base(), e.slot(), e.busy() ? EventKind::kTransmitEnd : EventKind::kTimer, port.value));
  if (e.sent_control() && e.refresh_due() < refresh_due_) [[unlikely]]
    set_refresh(e.refresh_due());
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
  slots_.set(ports(), EventKey::make(key_base(), std::min({refresh_due_, watchdog_due_, watch_due_}), EventKind::kTimer,
                                     static_cast<std::uint32_t>(ports())));
}

// A port's pause may have run out; standing XOFFs must be repeated; the watchdog looks.
void Switch::on_timer(Instant now, PortIndex port) {
  if (port.index() < ports()) return starts_.add(now, port);
  if (watchdog_due_ <= now) poll_watchdog(now);
  if (watch_due_ <= now) on_watches_due(now);  // whose watch it was may be gone
  Instant next = Instant::never();
  for (std::size_t p = 0; p < ports(); ++p) {
    EgressPort& e = egress_[p];
    if (e.refresh_due() <= now) {
      e.refresh();
      if (!e.busy()) starts_.add(now, PortIndex{static_cast<std::uint16_t>(p)});
    }
    next = std::min(next, e.refresh_due());
  }
  set_refresh(next);
}

void Switch::on_mac_control(Instant now, PortIndex port, Packet* packet) {
  EgressPort& e = egress_[port.index()];
  rx_control_[port.index()].increment();
  if (tapped()) observe(now, port, *packet, {.event = TapNote::Event::kReceived});
  const auto frame = read_pfc_frame(*packet);
  if (!frame) [[unlikely]] {
    drops_by_port_[port.index()].count(frame.error());
    pool().release(packet);
    return;
  }
  consume(packet);
  const PriorityMask before = watches_ ? e.paused(now) : PriorityMask{0};
  e.pause(now, frame->enable, frame->quanta);
  if (!watchdogs_.empty()) [[unlikely]]
    arm_watchdog(now, port, frame->enable);
  if (watches_) [[unlikely]]
    look_at_pauses(now, port, before, frame->enable);
  // An idle port may have been let go, or its timer may have to move.
  if (!e.busy() && e.has_pending_start()) starts_.add(now, port);
}

void Switch::consume(Packet* packet) {
  consumed_.increment();
  pool().release(packet);
}

void Switch::drop(Instant now, const Arrival& a, DropReason reason) {
  // A full egress queue is the egress port's affair, everything else that of the port where the frame came in.
  const bool at_egress = reason == DropReason::kEgressFull || reason == DropReason::kTrimQueueFull ||
                         reason == DropReason::kWred || reason == DropReason::kLinkDown ||
                         reason == DropReason::kCrash ||
                         (reason == DropReason::kPfcWatchdog &&
                          (queues_[index(PortIndex{a.port}, Priority{a.priority})].stops & Queue::kStorm) != 0);
  const std::size_t where = at_egress ? index(PortIndex{a.port}, Priority{a.priority}) : a.origin;
  drops_by_class_[where].count(reason);
  if (tapped()) {
    const PortIndex port{static_cast<std::uint16_t>(where / kPriorities)};
    if (port.index() < ports())
      observe(now, port, *a.packet,
              {.event = TapNote::Event::kDropped,
               .reason = reason,
               .priority = Priority{static_cast<std::uint8_t>(where % kPriorities)},
               .depth_octets =
                   at_egress ? static_cast<std::int64_t>(egress_[port.index()].depth(Priority{a.priority})) : -1});
  }
  pool().release(a.packet);
}

// ---- Link state ----------------------------------------------------------------------------------------------------

void Switch::on_link_down(Instant now, PortIndex port) {
  EgressPort& e = egress_[port.index()];
  facts_[port.index()].up = false;
  paths_.set_up(port, false);
  e.link_down(now);
  if (watches_) look_at_pauses(now, port, 0, 0xFF);
  drop_queued(now, port, kAllPriorities, DropReason::kLinkDown);
  if (!e.busy()) slots_.set(port.index(), EventKey::kNone);
}

void Switch::drop_queued(Instant now, PortIndex port, PriorityMask classes, DropReason reason) {
  EgressPort& e = egress_[port.index()];
  while (const unsigned rest = e.nonempty() & classes) {
    const Priority priority{static_cast<std::uint8_t>(std::countr_zero(rest))};
    const QueuedFrame frame = e.flush(priority);
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
  // What still has to be said about pausing is said again.
  if (!egress_[port.index()].busy()) starts_.add(now, port);
}

}  // namespace railyard
