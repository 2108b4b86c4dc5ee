// The sending half of a port: queues, scheduler, MAC control, pause, and the wire. Switches and NICs share it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/base/assert.h"
#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/channel.h"
#include "dataplane/device/counters.h"
#include "dataplane/device/pause_state.h"
#include "dataplane/device/pfc_sender.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// A frame in an egress queue, with what must be released when its last octet has left: by then the packet belongs to
// somebody else.
struct QueuedFrame {
  Packet* packet;
  std::uint32_t octets;
  std::uint16_t cells;   // of the device's buffer
  std::uint16_t origin;  // ingress priority group that it is charged to; kNoOrigin: to none

  static constexpr std::uint16_t kNoOrigin = 0xFFFF;
};

// One slot of time per port: the end of the running transmission, or, when idle, the moment at which a paused queue may
// be tried again. Precomputed departures would be wrong under PFC, DWRR and strict priority.
class EgressPort {
 public:
  EgressPort() = default;
  EgressPort(EgressPort&&) = default;

  // `channel` must outlive the port.
  void connect(Channel& channel, BitRate rate) noexcept {
    channel_ = &channel;
    octet_time_ = OctetTime(rate);
    quantum_ = Bytes{64} / rate;  // 512 bit times
    data_lead_ = channel.propagation + channel.data_latency;
    control_lead_ = channel.propagation + channel.control_latency;
  }

  bool busy() const noexcept { return busy_; }
  bool has_pending_start() const noexcept { return nonempty_ != 0 || pfc.pending() != 0; }
  // The port's slot: when it wants to be called next, Instant::never() if not by itself.
  Instant slot() const noexcept { return slot_; }
  // What the transmission that ends at slot() was. Valid while busy().
  const QueuedFrame& sending() const noexcept { return sending_; }
  Priority sending_priority() const noexcept { return sending_priority_; }

  void enqueue(Priority p, const QueuedFrame& frame) {
    queues_[p.index()].push(frame);
    nonempty_ = static_cast<PriorityMask>(nonempty_ | bit(p));
  }
  PriorityMask nonempty() const noexcept { return nonempty_; }
  const RingQueue<QueuedFrame>& queue(Priority p) const noexcept { return queues_[p.index()]; }

  // Takes the first frame out of a queue without sending it (flush).
  QueuedFrame dequeue(Priority p) noexcept {
    RingQueue<QueuedFrame>& q = queues_[p.index()];
    const QueuedFrame frame = q.front();
    q.pop();
    if (q.empty()) {
      nonempty_ = static_cast<PriorityMask>(nonempty_ & ~bit(p));
      scheduler.emptied(p);
    }
    return frame;
  }

  // The transmission that was running has ended.
  void transmit_end() noexcept {
    busy_ = false;
    slot_ = Instant::never();
  }

  // Starts what may be sent at `now`, MAC control first; if nothing may, sets slot() to the next pause expiry. The port
  // must be idle and all other events of the instant done. `departing(packet, priority)` sees a data frame just before
  // it is pushed and may still rewrite it; `make_pfc(mask, quanta)` builds the pending PFC frame (nullptr: no memory).
  template <class Departing, class MakePfc>
  void start(Instant now, Departing&& departing, MakePfc&& make_pfc) {
    RAILYARD_EXPENSIVE_ASSERT(!busy_, "start on a busy port");
    if (pfc.pending() != 0) [[unlikely]] {
      if (start_pfc(now, make_pfc)) return;
    }
    const auto eligible = static_cast<PriorityMask>(nonempty_ & ~pause.paused(now));
    if (eligible == 0) {
      slot_ = pause.first_expiry(nonempty_);
      return;
    }
    const Priority p = scheduler.pick(eligible, [this](Priority q) { return queues_[q.index()].front().octets; });
    sending_ = dequeue(p);
    sending_priority_ = p;
    tx_packets[p.index()].increment();
    tx_octets[p.index()].add(sending_.octets);
    departing(*sending_.packet, p);
    begin(now, sending_.octets);
    const std::uint32_t seen = channel_->cut_through && sending_.octets > Channel::kCutThroughOctets
                                   ? Channel::kCutThroughOctets
                                   : sending_.octets;
    channel_->push_data(now, octet_time_.of(seen + kPreambleOctets) + data_lead_, sending_.packet);
  }

  // Fills what this port knows of one of its classes.
  void count(Priority p, Instant now, ClassCounters& c) const noexcept {
    c.tx_packets = tx_packets[p.index()].read();
    c.tx_octets = tx_octets[p.index()].read();
    c.xoff_sent = pfc.xoff_sent(p);
    c.xon_sent = pfc.xon_sent(p);
    c.xoff_received = pause.xoff_received(p);
    c.xon_received = pause.xon_received(p);
    c.paused = pause.paused_time(p, now);
  }

  Duration quantum() const noexcept { return quantum_; }
  OctetTime octet_time() const noexcept { return octet_time_; }
  bool connected() const noexcept { return channel_ != nullptr; }

  Scheduler scheduler;
  PfcSender pfc;
  PauseState pause;
  std::array<Counter, kPriorities> tx_packets;
  std::array<Counter, kPriorities> tx_octets;  // of frames with FCS
  Counter tx_control;                          // MAC control frames

 private:
  template <class MakePfc>
  bool start_pfc(Instant now, MakePfc& make_pfc) {
    std::array<std::uint16_t, kPriorities> quanta{};
    const PriorityMask mask = pfc.take(now, quanta);
    Packet* frame = make_pfc(mask, quanta);
    if (frame == nullptr) return false;
    sending_ = {nullptr, kLeastFrameOctets, 0, QueuedFrame::kNoOrigin};
    tx_control.increment();
    begin(now, kLeastFrameOctets);
    channel_->push_control(now, octet_time_.of(kLeastFrameOctets + kPreambleOctets) + control_lead_, frame);
    return true;
  }
  void begin(Instant now, std::uint32_t octets) noexcept {
    busy_ = true;
    slot_ = now + octet_time_.of(octets + kPreambleOctets + kGapOctets);
  }

  Channel* channel_ = nullptr;
  OctetTime octet_time_;
  Instant slot_ = Instant::never();
  Duration data_lead_{};
  Duration control_lead_{};
  QueuedFrame sending_{};
  Priority sending_priority_{};
  bool busy_ = false;
  PriorityMask nonempty_ = 0;
  Duration quantum_{};
  std::array<RingQueue<QueuedFrame>, kPriorities> queues_;
};

}  // namespace railyard
