// The exchange with hosts outside: in bursts, between windows, and paced by how much each side takes.
#include <algorithm>

#include "dataplane/nic/host.h"
#include "dataplane/packet/edge.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/pfc.h"

namespace railyard {

std::unique_ptr<Attachment> Host::attach(Instant now, PortIndex port, std::unique_ptr<Attachment> attachment) {
  Nic& nic = nics_[port.index()];
  if (nic.attachment != nullptr) forget_outside(std::max(now, done()), port, nic);
  nic.attachment.swap(attachment);
  if (nic.attachment != nullptr && !nic.up) nic.attachment->set_carrier(false);
  attached_ = std::ranges::any_of(nics_, [](const Nic& n) { return n.attachment != nullptr; });
  return attachment;
}

// What is between the fabric and a host outside that is taken away.
void Host::forget_outside(Instant now, PortIndex port, Nic& nic) {
  // A last burst to send may still be taken; the rest never.
  if (!nic.outgoing.empty()) give_outgoing(now, port, nic);
  while (!nic.receive.empty()) drop(now, port, nic.receive.pop().packet, DropReason::kHostGone);
  for (; !nic.incoming.empty(); nic.incoming.pop()) {
    generated_.increment();
    nic.drops.count(DropReason::kHostGone);
    pool().release(nic.incoming.front());
  }
  nic.asked.clear(now);
  if (nic.egress.connected()) {
    signal_pauses(now, port);
    set_timer(receive_slot(port), Instant::never());
    lower_next(now);
  }
  nic.attachment->release_packets(pool());
}

// Hands packets to the host outside; what its ring does not take waits here, and the fabric is paused when that grows.
// A host outside does not live in modelled time, so they are gathered up to the next poll, for fewer calls into its
// driver. What it does not take shows that much later, and so does the pause that follows.
void Host::give_outgoing(Instant now, PortIndex port, Nic& nic) {
  const std::span<Packet* const> packets = nic.outgoing;
  const std::size_t given =
      nic.receive.empty() && !nic.receive.stopped() ? nic.attachment->give(pool(), packets) : 0;
  consumed_.add(given);
  for (Packet* p : packets.subspan(given)) hold(now, port, nic, p);
  nic.outgoing.clear();
}

void Host::give_outside(Instant now) {
  const Instant at = std::max(now, done());
  for (std::size_t p = 0; p < ports(); ++p)
    if (Nic& nic = nics_[p]; !nic.outgoing.empty()) give_outgoing(at, PortIndex{static_cast<std::uint16_t>(p)}, nic);
  if (!starts_.empty()) lower_next(starts_.at());
}

bool Host::readable(std::vector<int>& descriptors) const {
  bool all = true;
  for (const Nic& nic : nics_) {
    if (nic.attachment == nullptr) continue;
    const int fd = nic.attachment->readable();
    if (fd >= 0) descriptors.push_back(fd);
    all &= fd >= 0;
  }
  return all;
}

void Host::hold(Instant now, PortIndex port, Nic& nic, Packet* p) {
  const Priority priority = classify(config_.nics[port.index()].trust, *p);
  if (!nic.receive.fits(priority, p->frame_octets)) return drop(now, port, p, DropReason::kNicReceiveFull);
  nic.receive.push(now, p, p->frame_octets, priority);
  signal_pause(now, port, priority);
}

// Classes of which the NIC can hold more frames from outside.
PriorityMask Host::have_room(const Nic& nic) const noexcept {
  if (!nic.up || !nic.incoming.empty()) return 0;
  PriorityMask classes = 0;
  for (std::uint8_t c = 0; c < kPriorities; ++c)
    if (nic.egress.queue(Priority{c}).size() < kAttachedQueue) classes |= bit(Priority{c});
  return classes;
}

Instant Host::poll(Instant now, Duration) {
  const Instant at = std::max(now, done());
  for (std::size_t p = 0; p < ports(); ++p) {
    Nic& nic = nics_[p];
    if (nic.attachment == nullptr) continue;
    bool changed = false;
    while (!nic.receive.empty() && !nic.receive.stopped()) {
      Packet* const first = nic.receive.front();
      if (nic.attachment->give(pool(), {&first, 1}) == 0) break;
      nic.receive.pop();
      consumed_.increment();
      changed = true;
    }
    if (!nic.outgoing.empty()) give_outgoing(at, PortIndex{static_cast<std::uint16_t>(p)}, nic);
    if (const PriorityMask classes = have_room(nic); classes != 0) {
      auto& packets = context().packets;
      const std::size_t n = nic.attachment->take_of(classes, *nic.trust, pool(), packets);
      for (std::size_t i = 0; i < n; ++i) nic.incoming.push(packets[i]);
      changed |= n > 0;
    }
    if (!changed || nic.incoming_at <= at) continue;
    nic.incoming_at = at;
    const PortIndex port{static_cast<std::uint16_t>(p)};
    set_timer(outside_slot(port), at);
    lower_next(at);
  }
  if (!starts_.empty()) lower_next(starts_.at());
  return next();
}

Instant Host::buffer_timer(const Nic& nic) const noexcept {
  return nic.attachment != nullptr ? nic.asked.first_expiry(0xFF) : nic.receive.next();
}

// A pause that the host outside asked for has run out.
void Host::on_asked(Instant now, PortIndex port) {
  signal_pauses(now, port);
  set_timer(receive_slot(port), buffer_timer(nics_[port.index()]));
}

// What the last poll brought: frames to send, or room for more to receive. A host that sends PFC speaks to the other
// end of its cable, which is the leaf: the NIC says it there, together with what it has to say itself.
void Host::on_outside(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  const NicConfig& config = config_.nics[port.index()];
  nic.incoming_at = Instant::never();
  for (; !nic.incoming.empty(); nic.incoming.pop()) {
    Packet* p = nic.incoming.front();
    // Copying a burst of long packets pushes their headers out of the first cache.
    if (nic.incoming.size() > kPrefetchAhead) {
      const Packet* later = nic.incoming[kPrefetchAhead];
      __builtin_prefetch(later, 1);
      __builtin_prefetch(later->header());
    }
    generated_.increment();
    const std::size_t trailer = p->has(Packet::kIcrcPending) ? std::size_t{wire::kIcrcOctets} : 0;
    const auto view = wire::parse_frame(p->header_span(), p->header_octets + std::size_t{p->payload_octets} + trailer);
    DropReason bad = DropReason::kCount;
    if (!view) {
      bad = view.error();
    } else if (p->frame_octets > config.largest_frame()) {
      bad = DropReason::kGiant;
    } else if (view->kind == FrameKind::kMacControl) {
      if (const auto pfc = wire::parse_pfc(p->header_span())) {
        nic.asked.receive(now, pfc->enable, pfc->quanta, nic.quantum);
        consumed_.increment();
        pool().release(p);
        continue;
      } else {
        bad = pfc.error();
      }
    }
    if (bad != DropReason::kCount) {
      nic.drops.count(bad);
      pool().release(p);
      continue;
    }
    const std::size_t whole = p->header_octets + std::size_t{p->payload_octets};
    describe(*p, *view, *config_.fecs, nic.addresses);
    p->payload_octets = static_cast<std::uint32_t>(whole - p->header_octets);
    enqueue(nic, classify(config.trust, *p), p);
  }
  on_asked(now, port);
  if (!nic.egress.busy()) starts_.add(now, port);
}

}  // namespace railyard
