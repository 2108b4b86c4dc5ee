// What becomes of what arrives at a host: checked, handed over or held back, counted.
#include <algorithm>
#include <span>

#include "dataplane/device/credit_frame.h"
#include "dataplane/device/pfc_frame.h"
#include "dataplane/nic/host.h"
#include "dataplane/packet/rewrite.h"

namespace railyard {
namespace {

// Corrupted octets that are only promised; of real ones the octets say so.
inline bool is_seen_corrupted(const Packet& p) noexcept {
  return p.has(Packet::kCorrupted) && p.has(Packet::kElided);
}

// Corrupted octets that are only promised are not those that were sent.
inline PayloadRef payload_seen(const Packet& p) noexcept {
  PayloadRef payload = p.payload();
  if (p.has(Packet::kCorrupted) && payload.bytes == nullptr) [[unlikely]]
    payload.stream = ~payload.stream;
  return payload;
}

}  // namespace

void Host::on_mac_control(Instant now, PortIndex port, Packet* packet) {
  Nic& nic = nics_[port.index()];
  nic.rx_control.increment();
  if (is_credit_frame(*packet)) [[unlikely]]
    return on_credit_message(now, port, packet);
  if (tapped()) observe(now, port, *packet, {.event = TapNote::Event::kReceived});
  const auto frame = read_pfc_frame(*packet);
  if (!frame) {
    nic.drops.count(frame.error());
    pool().release(packet);
    return;
  }
  consumed_.increment();
  pool().release(packet);
  nic.egress.pause(now, frame->enable, frame->quanta);
  if (!nic.egress.busy()) starts_.add(now, port);
}

bool Host::all_busy() const noexcept {
  return std::all_of(nics_.begin(), nics_.end(), [](const Nic& n) { return n.egress.busy(); });
}

// Handles the arrival at `i` and those behind it that can be handed over together: nothing that this host does could
// come between them. Returns the place behind the last one.
std::size_t Host::on_arrivals(Instant now, PortIndex port, std::size_t i, std::uint64_t limit) {
  ArrivalBatch& batch = arrivals();
  Nic& nic = nics_[port.index()];
  auto& frames = context().received;
  auto& packets = context().packets;
  std::size_t n = 0;
  const std::uint64_t tick = EventKey::ticks(batch[i].key);
  const std::uint64_t same_kind = batch[i].key & ((std::uint64_t{1} << EventKey::kTimeShift) - 1);
  for (;;) {
    Packet* p = batch[i].packet;
    const Instant at = EventKey::time(key_base(), batch[i].key);
    CreditStamp credits{};
    if (nic.egress.has_credits()) [[unlikely]]
      nic.egress.credit_arrival(at, credits = p->credits, p->has(Packet::kFcsBad));
    if (accept(at, port, p)) {
      if (nic.attachment != nullptr) [[unlikely]] {
        nic.outgoing.push_back(p);
        if (nic.outgoing.size() == kGiveAtOnce || !nic.receive.empty()) give_outgoing(at, port, nic);
      } else if (nic.receive.limited()) {
        buffer(at, port, p);
      } else {
        if (p->has(Packet::kTagged) && !nic.keeps_tags) [[unlikely]]
          pop_vlan_tag(*p);
        frames[n] = {at,       p->sent - skew(at), p->header_span(), payload_seen(*p), p->has(Packet::kIcrcPending),
                     p->trimmed != 0, p->copied != 0, p->telemetry != 0, is_seen_corrupted(*p)};
        packets[n++] = p;
      }
    }
    if (credits.cells != 0) [[unlikely]]
      credits_changed(at, port, Priority{credits.priority});
    const std::uint64_t key = batch[++i].key;
    if (n == frames.size() || key >= limit || key >= slots_.min()) break;
    if ((key & ((std::uint64_t{1} << EventKey::kTimeShift) - 1)) != same_kind) break;
    if (EventKey::ticks(key) != tick && !all_busy()) break;
  }
  if (n > 0) deliver(nic, std::span(frames).first(n), std::span(packets).first(n));
  start_if_any(now, port, nic);
  return i;
}

// What every frame must pass before anybody in the host sees it.
bool Host::accept(Instant now, PortIndex port, Packet* p) {
  const Priority priority = classify(*nics_[port.index()].trust, *p);
  return observed() ? accept_observed(now, port, priority, p) : accept(now, port, priority, p);
}

bool Host::accept_observed(Instant now, PortIndex port, Priority priority, Packet* p) {
  IntStack* const stack = records_int() ? int_stack(*p) : nullptr;
  if (stack != nullptr) int_arrival(*stack, now, port, priority, *p);
  if (tapped()) observe(now, port, *p, {.event = TapNote::Event::kReceived, .priority = priority});
  const bool accepted = accept(now, port, priority, p);
  if (accepted) p->sampled = 0;  // nothing follows it any further
  if (stack != nullptr) stack->end();
  return accepted;
}

inline bool Host::accept(Instant now, PortIndex port, Priority priority, Packet* p) {
  Nic& nic = nics_[port.index()];
  Received& received = nic.received[priority.index()];
  received.packets.increment();
  received.octets.add(p->frame_octets);
  if (p->frame_octets > nic.largest_frame) [[unlikely]]
    return drop(now, port, p, DropReason::kGiant), false;
  if (p->has(Packet::kFcsBad)) [[unlikely]]
    return drop(now, port, p, DropReason::kFcsError), false;
  if (nic.attachment != nullptr) return true;  // all the rest is its host's business
  // Without ports it is none of a transport's: ARP, neighbour discovery, ping.
  if (p->transport_hash == 0) [[unlikely]] {
    if (answer(now, port, p)) return false;
    if (nic.endpoint == nullptr || !nic.endpoint->takes_everything())
      return drop(now, port, p, DropReason::kNotUnderstood), false;
    // UET directly behind IP has its CRC, too.
    return p->has(Packet::kCorrupted) ? (drop(now, port, p, DropReason::kIcrcError), false) : true;
  }
  if (wire::mac_word(p->header()) != nic.mac) [[unlikely]]
    return drop(now, port, p, DropReason::kNotForUs), false;
  if (nic.endpoint == nullptr) [[unlikely]]
    return drop(now, port, p, DropReason::kNotUnderstood), false;
  // RoCEv2 has an ICRC, and so has what a built-in transport has asked one for. UET need not have a CRC; where octets
  // are all there, its transport looks itself.
  if (p->has(Packet::kCorrupted) &&
      (p->has(Packet::kIcrcPending) || (p->entropy != 0 && (p->entropy & Packet::kUetEntropy) == 0))) [[unlikely]]
    return drop(now, port, p, DropReason::kIcrcError), false;
  return true;
}

// A frame has come in: an idle NIC starts if that has made something of it, or something waits for an occasion. What an
// idle NIC has queued waits for the end of a pause.
inline void Host::start_if_any(Instant now, PortIndex port, Nic& nic) {
  if (!nic.egress.busy() && (nic.ready.until == Instant{} || nic.egress.has_pending_control())) starts_.add(now, port);
  if (others_changed_ != nullptr && *others_changed_) [[unlikely]]
    start_others(now);
}

// All are asked again; those that send, once they are done.
void Host::start_others(Instant now) {
  *config_.others_changed = false;
  for (std::size_t p = 0; p < ports(); ++p) {
    if (nics_[p].endpoint == nullptr) continue;
    nics_[p].ready.until = Instant{};
    if (!nics_[p].egress.busy()) starts_.add(now, PortIndex{static_cast<std::uint16_t>(p)});
  }
}

void Host::deliver(Nic& nic, std::span<const RxFrame> frames, std::span<Packet* const> packets) {
  if (nic.endpoint->receive(frames)) nic.ready.until = Instant{};
  for (Packet* p : packets) {
    consumed_.increment();
    pool().release(p);
  }
}

void Host::buffer(Instant now, PortIndex port, Packet* p) {
  Nic& nic = nics_[port.index()];
  const Priority priority = classify(config_.nics[port.index()].trust, *p);
  if (!nic.receive.fits(priority, p->frame_octets)) return drop(now, port, p, DropReason::kNicReceiveFull);
  nic.receive.push(now, p, p->frame_octets, priority);
  signal_pause(now, port, priority);
  if (nic.shared_bus != kOwnBus)
    carry_received(now, nic.shared_bus);
  else
    set_timer(receive_slot(port), nic.receive.next());
}

// The host has taken a frame out of the receive buffer.
void Host::on_received(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  const ReceiveBuffer::Held held = nic.receive.pop();
  signal_pause(now, port, held.priority);
  set_timer(receive_slot(port), nic.receive.next());
  if (nic.shared_bus != kOwnBus && (nic.receive.wants_bus() || !planted(PlantedBug::kBusForgetsWaiting)))
    carry_received(now, nic.shared_bus);
  if (held.packet->has(Packet::kTagged) && !nic.keeps_tags) [[unlikely]]
    pop_vlan_tag(*held.packet);
  const RxFrame frame{now, held.packet->sent - skew(now), held.packet->header_span(), payload_seen(*held.packet),
                      held.packet->has(Packet::kIcrcPending), held.packet->trimmed != 0, held.packet->copied != 0,
                      held.packet->telemetry != 0, is_seen_corrupted(*held.packet)};
  deliver(nic, {&frame, 1}, {&held.packet, 1});
  start_if_any(now, port, nic);
}

void Host::signal_pause(Instant now, PortIndex port, Priority priority) {
  Nic& nic = nics_[port.index()];
  if (nic.egress.has_credits()) [[unlikely]]
    credits_changed(now, port, priority);
  const bool paused = nic.egress.wants_pause(priority);
  const bool asked = (nic.asked.paused(now) & bit(priority)) != 0;
  const bool xoff = asked || nic.receive.wants_xoff(priority, paused);
  if (xoff == paused) return;
  if (nic.egress.want_pause(priority, xoff) && !nic.egress.busy()) starts_.add(now, port);
}

void Host::signal_pauses(Instant now, PortIndex port) {
  for (std::uint8_t c = 0; c < kPriorities; ++c) signal_pause(now, port, Priority{c});
}

void Host::drop(Instant now, PortIndex port, Packet* packet, DropReason reason) {
  const Priority priority = classify(config_.nics[port.index()].trust, *packet);
  nics_[port.index()].class_drops[priority.index()].count(reason);
  if (LossLog::counts(reason)) note_loss(now);
  if (packet->is_rdma()) nics_[port.index()].rdma_drops[priority.index()].count(reason);
  if (observed()) [[unlikely]]
    if (IntStack* stack = int_stack(*packet); stack != nullptr) stack->drop(reason);
  if (tapped())
    observe(now, port, *packet, {.event = TapNote::Event::kDropped, .reason = reason, .priority = priority});
  if (!planted(PlantedBug::kPacketLeak) || reason != DropReason::kFcsError) pool().release(packet);
}

}  // namespace railyard
