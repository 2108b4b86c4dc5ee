// The sending half of a port: queues, scheduler, MAC control, pause, and the wire. Switches and NICs share it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "dataplane/base/assert.h"
#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/path_telemetry.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/channel.h"
#include "dataplane/device/counters.h"
#include "dataplane/device/link_retry.h"
#include "dataplane/device/pause_state.h"
#include "dataplane/device/pfc_sender.h"
#include "dataplane/device/port_credits.h"
#include "dataplane/device/port_look.h"
#include "dataplane/device/queue_sample.h"
#include "dataplane/device/queued_frame.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// One slot of time per port: the end of the running transmission, or, when idle, the moment at which a paused queue may
// be tried again. Precomputed departures would be wrong under PFC, DWRR and strict priority.
//
// The members are laid out by use: what every frame touches is in two cache lines and one per class.
class alignas(64) EgressPort {
 public:
  // For ports that have nothing to report, and those without credits.
  struct NoReports {
    Packet* operator()() const noexcept { return nullptr; }
  };
  struct NoCredits {
    Packet* operator()(const wire::CreditMessage&) const noexcept { return nullptr; }
  };

  EgressPort() = default;
  EgressPort(EgressPort&&) = default;

  // The port's bit clock is so many billionths slower than the link's rate says. Before connect().
  void run_slower(std::uint32_t billionths) noexcept {
    slower_ppb_ = billionths;
    clock_rest_ = billionths == 0 ? OctetTime::Rest{} : OctetTime::Rest::kept();
  }
  // `channel` must outlive the port.
  void connect(Channel& channel, BitRate rate) noexcept {
    channel_ = &channel;
    octet_time_ = OctetTime(rate).slower(slower_ppb_);
    quantum_ = Bytes{64} / rate;  // 512 bit times
    preamble_ = static_cast<std::int16_t>(channel.framing.preamble);
    gap_ = static_cast<std::int16_t>(channel.framing.gap);
    data_lead_ = channel.propagation + channel.data_latency;
    control_lead_ = channel.propagation + channel.control_latency;
    seen_at_most_ = channel.cut_through ? Channel::kCutThroughOctets : ~std::uint32_t{0};
  }
  bool connected() const noexcept { return channel_ != nullptr; }
  Framing framing() const noexcept { return {preamble_, gap_}; }
  // The link has another rate for what begins from now on; a transmission that is running ends as it began. What the
  // peer was told in quanta is worth another time to it from now on.
  void set_rate(Instant now, BitRate rate, Duration peer_response) noexcept {
    octet_time_ = OctetTime(rate).slower(slower_ppb_);
    quantum_ = Bytes{64} / rate;
    control_lead_ = channel_->propagation + peer_response;
    pfc_.set_quantum(now, quantum_);
  }
  // What starts from now on is retried by `retry`, which stays as long as the port runs, if that has something to do;
  // said again when that has changed.
  void retry_through(LinkRetry& retry) noexcept {
    channel_->retry = &retry;
    has_retry_ = true;
    look_up();
  }
  // The link has credit-based flow control: what this port sends, and what comes in here. Before anything is sent.
  void use_credits(const CreditConfig& sends, const CreditConfig& receives) {
    credits_ = std::make_unique<PortCredits>(sends, receives);
    look_up();
  }
  bool has_credits() const noexcept { return attention_ != 0 && credits_ != nullptr; }
  // The pause time that XOFFs of this port announce, in quanta.
  void announce(std::uint16_t quanta) noexcept { pfc_.configure(quanta, quantum_); }
  void schedule(const std::array<ClassScheduling, kPriorities>& classes, std::uint32_t largest_frame) noexcept {
    scheduler_.configure(classes, largest_frame);
  }

  bool busy() const noexcept { return busy_; }
  // Whether start() could do something, sooner or later.
  bool has_pending_start() const noexcept { return (nonempty_ | attention_) != 0; }
  // Whether a MAC control frame waits; at an idle port for memory, which any occasion to start may bring.
  bool has_pending_control() const noexcept {
    return attention_ != 0 && (pfc_.pending() != 0 || report_due_ || (has_credits() && credits_->pending()));
  }
  // The port's slot: when it wants to be called next, Instant::never() if not by itself.
  Instant slot() const noexcept { return slot_; }
  // What the transmission that ends at slot() is. Valid while busy() and at its end; no packet: MAC control.
  const QueuedFrame& sending() const noexcept { return sending_; }
  Priority sending_priority() const noexcept { return sending_priority_; }
  // Whether it is a MAC control frame.
  bool sent_control() const noexcept { return busy_ && sending_.packet == nullptr; }

  void enqueue(Priority p, const QueuedFrame& frame) {
    ClassQueue& q = queues_[p.index()];
    q.frames.push(frame);
    const std::uint64_t depth = q.depth.read() + frame.octets;
    q.depth.set(depth);
    q.max_depth.raise_to(depth);
    nonempty_ = static_cast<PriorityMask>(nonempty_ | bit(p));
  }
  PriorityMask nonempty() const noexcept { return nonempty_; }
  const RingQueue<QueuedFrame>& queue(Priority p) const noexcept { return queues_[p.index()].frames; }
  template <class F>
  void for_each_queued(F&& f) const {
    for (const ClassQueue& q : queues_)
      for (std::size_t i = 0; i < q.frames.size(); ++i) f(*q.frames[i].packet);
  }
  // Octets of a queue, with the frame in transmission.
  std::uint64_t depth(Priority p) const noexcept { return queues_[p.index()].depth.read(); }

  // For what comes soon: an enqueue to `p`; the end of the running transmission.
  void prefetch_queue(Priority p) const noexcept {
    __builtin_prefetch(this, 1);
    __builtin_prefetch(&queues_[p.index()], 1);
  }
  void prefetch() const noexcept {
    static_assert(sizeof(scheduler_) > 64);
    __builtin_prefetch(this, 1);
    __builtin_prefetch(&scheduler_ + 1, 1);  // its end, in the next line
  }
  // And then what that and the start() behind it touch; and what these name.
  void prefetch_departure() const noexcept {
    __builtin_prefetch(channel_, 1);
    __builtin_prefetch(&queues_[sending_priority_.index()], 1);
  }
  void prefetch_next() const noexcept {
    if (channel_ == nullptr) return;
    channel_->prefetch_near();
    queues_[sending_priority_.index()].frames.prefetch_front();
  }

  // Whether the first frame of a queue has departed and waits for its link to send it again.
  bool retries(Priority p) const noexcept { return retries_ && retry().waits() && retry().waiting() == p; }

  // Takes the first frame out of a queue without sending it.
  QueuedFrame flush(Priority p) noexcept {
    ClassQueue& q = queues_[p.index()];
    const QueuedFrame frame = dequeue(p, q);
    q.depth.set(q.depth.read() - frame.octets);
    if (retries_) [[unlikely]]
      retry().give_up(p);
    return frame;
  }

  // Takes the last frame out of a queue that has one, without sending it.
  QueuedFrame take_last(Priority p) noexcept {
    ClassQueue& q = queues_[p.index()];
    const QueuedFrame frame = q.frames.pop_back();
    if (q.frames.empty()) nonempty_ = static_cast<PriorityMask>(nonempty_ & ~bit(p));
    q.depth.set(q.depth.read() - frame.octets);
    return frame;
  }

  // No link carries what is sent: takes out the frame that would go next if the peer held none back, and is busy as
  // long as it would be on the wire. The port must be idle and have a frame.
  QueuedFrame send_nowhere(Instant now) noexcept {
    const Priority p =
        scheduler_.pick(nonempty_, nonempty_, [this](Priority c) { return queues_[c.index()].frames.front().octets; });
    const QueuedFrame frame = flush(p);
    sending_ = {nullptr, frame.octets, 0, QueuedFrame::kNoOrigin};
    busy_ = true;
    slot_ = now + octet_time_.of(framing().slot(frame.octets));
    return frame;
  }

  // In `departing` of start(): what departs is so many octets longer, on the wire and in its queue until it has left.
  void lengthen(std::uint32_t octets) noexcept {
    Counter& depth = queues_[sending_priority_.index()].depth;
    depth.set(depth.read() + octets);
    sending_.octets += octets;
    sending_.notes = 0;  // LLR may send it again
  }
  // Octets of the line's time that were used so far, with preambles and gaps; what departs is not counted yet.
  std::uint64_t line_octets() const noexcept {
    std::uint64_t octets = 0;
    std::uint64_t frames = 0;
    for (const ClassQueue& q : queues_) {
      octets += q.tx_octets.read();
      frames += q.tx_packets.read();
    }
    std::uint64_t control = tx_control_.read();
    if (credits_ != nullptr) {
      control -= credits_->sent.read();
      octets += credits_->sent_octets.read();
    }
    octets += frames * static_cast<std::uint64_t>(framing().around());
    return octets + control * framing().slot(kLeastFrameOctets);
  }

  // The transmission that was running has ended.
  void transmit_end() noexcept {
    busy_ = false;
    slot_ = Instant::never();
    if (sending_.packet != nullptr) [[likely]] {
      Counter& depth = queues_[sending_priority_.index()].depth;
      depth.set(depth.read() - sending_.octets);
    }
  }

  // Starts what may be sent at `now`, MAC control first; if nothing may, sets slot() to the next pause expiry. The port
  // must be idle and all other events of the instant done. `departing(packet, priority)` sees a data frame just before
  // it is pushed and may still rewrite it; `make_pfc(mask, quanta)` builds the pending PFC frame (nullptr: no memory),
  // `make_report()` the report that is due (nullptr: none after all), `make_credit(message)` a message about credits
  // (nullptr: no memory).
  template <class Departing, class MakePfc, class MakeReport = NoReports, class MakeCredit = NoCredits>
  void start(Instant now, Departing&& departing, MakePfc&& make_pfc, MakeReport&& make_report = {},
             MakeCredit&& make_credit = {}) {
    RAILYARD_EXPENSIVE_ASSERT(!busy_, "start on a busy port");
    PriorityMask eligible = nonempty_;
    if (attention_ != 0) [[unlikely]] {
      if (retries_ && retry().waits()) return replay(now);
      if (pfc_.pending() != 0 && start_pfc(now, make_pfc)) return;
      if (has_credits() && credits_->pending() && start_credit(now, make_credit)) return;
      if (report_due_ && start_report(now, make_report)) return;
      if (!planted(PlantedBug::kPauseIgnored))
        eligible = static_cast<PriorityMask>(eligible & ~(pause_.paused(now) & ~unsigned{deaf_}));
      if (has_credits()) eligible &= affordable(now);
      look_up();
    }
    if (eligible == 0) {
      slot_ = planted(PlantedBug::kPauseNeverExpires) ? Instant::never() : pause_.first_expiry(nonempty_);
      return;
    }
    const Priority p =
        scheduler_.pick(eligible, nonempty_, [this](Priority c) { return queues_[c.index()].frames.front().octets; });
    ClassQueue& q = queues_[p.index()];
    sending_ = dequeue(p, q);
    sending_priority_ = p;
    departing(*sending_.packet, p);
    if (attention_ != 0 && retries_ && !arrives(now)) [[unlikely]]
      return;
    transmit(now, q);
  }

  // A received PFC frame takes effect.
  void pause(Instant now, PriorityMask enable, const std::array<std::uint16_t, kPriorities>& quanta) noexcept {
    pause_.receive(now, enable, quanta, quantum_);
    look_up();
  }
  // Pauses of the classes in `obeyed` are obeyed from now on, those of others counted and ignored.
  void obey_pauses(Instant now, PriorityMask obeyed) noexcept {
    pause_.enable(now, obeyed);
    look_up();
  }
  // Class `p` sends although its peer has it paused, or obeys again.
  void ignore_pause(Priority p, bool ignore) noexcept {
    deaf_ = static_cast<PriorityMask>(ignore ? deaf_ | bit(p) : deaf_ & ~bit(p));
  }
  // Until when class `p` is paused; in the past: it is not.
  Instant paused_until(Priority p) const noexcept { return pause_.until(p); }
  PriorityMask paused(Instant now) noexcept { return attention_ == 0 ? PriorityMask{0} : pause_.paused(now); }
  // Of `wanted`, classes of which a frame of `octets` would have to wait: they are paused, or have not the credits.
  PriorityMask held_back(Instant now, PriorityMask wanted, std::uint32_t octets) noexcept {
    if (attention_ == 0) [[likely]]
      return 0;
    const unsigned paused = pause_.paused(now);
    const auto not_paused = static_cast<PriorityMask>(wanted & ~paused);
    const unsigned without = has_credits() ? credits_->sender.withhold(now, not_paused, octets) : 0u;
    return static_cast<PriorityMask>((wanted & paused) | without);
  }
  // When the first pause among the classes in `of` runs out; Instant::never() if none is paused. After start().
  Instant first_expiry(PriorityMask of) const noexcept { return pause_.first_expiry(of); }

  // The peer's class `p` is to be paused or let go. Returns whether a frame must be sent.
  bool want_pause(Priority p, bool xoff) noexcept {
    pfc_.want(p, xoff);
    look_up();
    return pfc_.pending() != 0;
  }
  bool wants_pause(Priority p) const noexcept { return pfc_.wants_xoff(p); }
  // When the standing XOFFs must be repeated or the peer is to be told which credits were used, and that this is the
  // time.
  Instant refresh_due() const noexcept {
    if (!has_credits()) [[likely]]
      return pfc_.refresh_due();
    return pfc_.refresh_due() < credits_->sender.sync_due() ? pfc_.refresh_due() : credits_->sender.sync_due();
  }
  void refresh(Instant now) noexcept {
    if (pfc_.refresh_due() <= now) pfc_.refresh();
    if (has_credits()) credits_->sender.sync(now);
    look_up();
  }

  // A data frame has come in at this port, which has credits; wrong: nobody knows of which class.
  void credit_arrival(Instant now, CreditStamp stamp, bool wrong) {
    wrong ? credits_->receiver.lose(now, stamp) : credits_->receiver.arrive(stamp);
  }
  // The link has lost a frame that would have come in here at `at`, now or later.
  void credit_lost(Instant at, CreditStamp stamp) { credits_->receiver.lose(at, stamp); }
  // So many cells are held of what came in here by class `p`. Returns whether a message must be sent.
  bool credit_hold(Priority p, std::uint32_t cells) noexcept { return credits_->receiver.hold(p, cells); }
  // A message of the peer takes effect.
  void hear_credits(Instant now, const wire::CreditMessage& message) noexcept {
    credits_->heard.increment();
    if (message.type == wire::CreditMessageType::kFreed)
      credits_->sender.hear(message);
    else
      credits_->receiver.hear(now, message);
  }

  // The peer is to get a report: it goes after pause frames and before data. False: no more.
  void want_report(bool due) noexcept {
    report_due_ = due;
    look_up();
  }

  // Faults. Classes that the peer is told to pause whatever the buffers say; returns whether a frame must be sent.
  bool storm(PriorityMask classes) noexcept {
    pfc_.storm(classes);
    look_up();
    return pfc_.pending() != 0;
  }
  // Received pause frames have no effect.
  void ignore_pauses(Instant now, bool ignored) noexcept {
    pause_.ignore(now, ignored);
    look_up();
  }

  // Both ends of a link forget about pausing when it goes down; what this end wants is said again when it is up.
  void link_down(Instant now) noexcept {
    pause_.clear(now);
    pfc_.forget();
    report_due_ = false;
    if (has_credits()) {
      credits_->sender.link_down(now);
      credits_->receiver.link_down();
    }
    look_up();
    if (!busy_) slot_ = Instant::never();
  }
  void link_up(Instant now) noexcept {
    if (!has_credits()) return;
    credits_->sender.link_up(now);
    credits_->receiver.link_up();
  }

  // Fills what this port has counted of one of its classes.
  void count_live(Priority p, ClassCounters& c) const noexcept {
    const ClassQueue& q = queues_[p.index()];
    c.tx_packets = q.tx_packets.read();
    c.tx_octets = q.tx_octets.read();
    c.depth_octets = q.depth.read();
    c.max_depth_octets = q.max_depth.read();
    c.xoff_sent = pfc_.xoff_sent(p);
    c.xon_sent = pfc_.xon_sent(p);
    c.xoff_received = pause_.xoff_received(p);
    c.xon_received = pause_.xon_received(p);
    c.pfc_not_enabled = pause_.not_enabled(p);
    c.paused = pause_.settled_time(p);
    if (credits_ != nullptr) c.stalled = credits_->sender.settled_stalls(p);
  }
  // What this port knows of a sample of one of its classes.
  QueueSample sample(Priority p, Instant now) const noexcept {
    const ClassQueue& q = queues_[p.index()];
    QueueSample s;
    s.depth_octets = q.depth.read();
    s.tx_octets = q.tx_octets.read();
    s.xoff_sent = pfc_.xoff_sent(p);
    s.paused = pause_.paused_time(p, now);
    return s;
  }
  PortLook look(Instant now) const noexcept {
    PortLook look;
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      look.depth_octets += queues_[k].depth.read();
      look.tx_octets += queues_[k].tx_octets.read();
      look.paused += pause_.paused_time(Priority{k}, now);
      look.held |= held_since(Priority{k}, now) != Instant::never();
    }
    return look;
  }
  // How long the first frames of a class have waited for credits in all.
  Duration stalled_time(Priority p, Instant now) const noexcept {
    return has_credits() ? credits_->sender.stalled_time(p, now) : Duration{};
  }
  // Fills what this port has counted of messages about credits. Any thread may ask.
  void count_credits(PortCounters& c) const noexcept {
    if (credits_ == nullptr) return;
    c.credit_messages_sent = credits_->sent.read();
    c.credit_octets_sent = credits_->sent_octets.read();
    c.credit_messages_received = credits_->heard.read();
  }
  // Since when a class has been held back by the peer without a break, by pauses or for want of credits;
  // Instant::never() if it is not at `now`.
  Instant held_since(Priority p, Instant now) const noexcept {
    const Instant paused = pause_.paused_since(p, now);
    const Instant stalled = has_credits() ? credits_->sender.stalled_since(p) : Instant::never();
    return paused < stalled ? paused : stalled;
  }
  Instant paused_since(Priority p, Instant now) const noexcept { return pause_.paused_since(p, now); }
  std::uint64_t tx_packets(Priority p) const noexcept { return queues_[p.index()].tx_packets.read(); }
  std::uint64_t xoff_received(Priority p) const noexcept { return pause_.xoff_received(p); }
  Duration paused_time(Priority p, Instant now) const noexcept { return pause_.paused_time(p, now); }
  std::uint64_t tx_control() const noexcept { return tx_control_.read(); }

 private:
  struct alignas(64) ClassQueue {
    RingQueue<QueuedFrame> frames;
    Counter tx_packets;
    Counter tx_octets;  // of frames with FCS
    Counter depth;      // octets
    Counter max_depth;
  };
  static_assert(sizeof(ClassQueue) == 64);

  QueuedFrame dequeue(Priority p, ClassQueue& q) noexcept {
    const QueuedFrame frame = q.frames.front();
    q.frames.pop();
    __builtin_prefetch(&q.frames.front());  // what is sent next: it was written when the queue was that long
    if (q.frames.empty()) nonempty_ = static_cast<PriorityMask>(nonempty_ & ~bit(p));
    return frame;
  }

  // sending_, which was taken from `q`, is on the wire from `now` on.
  void transmit(Instant now, ClassQueue& q) {
    q.tx_packets.increment();
    q.tx_octets.add(sending_.octets);
    busy_ = true;
    slot_ = now + octet_time_.of(framing().slot(sending_.octets), clock_rest_);
    const std::uint32_t seen = sending_.octets < seen_at_most_ ? sending_.octets : seen_at_most_;
    if (has_credits()) [[unlikely]]
      sending_.packet->credits = credits_->sender.consume(now, sending_priority_, sending_.octets);
    channel_->push_data(now, octet_time_.of(framing().to_tail(seen)) + data_lead_, sending_.packet);
  }

  // The first frame of its queue begins again: it was on the wire before all that has become pending since, a pause of
  // its class included.
  [[gnu::noinline]] void replay(Instant now) {
    const Priority p = retry().waiting();
    ClassQueue& q = queues_[p.index()];
    sending_ = dequeue(p, q);
    sending_priority_ = p;
    if (arrives(now)) transmit(now, q);
  }

  // Whether sending_ arrives whole. If not, it is the first of its queue again, where everybody finds it, and the port
  // has nothing to release when it may begin anew.
  [[gnu::noinline]] bool arrives(Instant now) {
    const Priority p = sending_priority_;
    const bool whole = retry().arrives(now, p, *sending_.packet);
    if (!whole) {
      queues_[p.index()].frames.unpop();
      queues_[p.index()].frames.front() = sending_;  // as it departs, longer than it was queued
      nonempty_ = static_cast<PriorityMask>(nonempty_ | bit(p));
      await_nack(now, sending_.octets);
    }
    look_up();
    return whole;
  }

  // A frame of `octets` that starts at `now` comes in wrong: the port is taken until it may begin anew, and never less
  // than it takes to send it.
  void await_nack(Instant now, std::uint32_t octets) noexcept {
    sending_ = {nullptr, octets, 0, QueuedFrame::kNoOrigin};
    busy_ = true;
    const Duration sent = octet_time_.of(framing().to_tail(octets));
    const Duration answered = octet_time_.of(LinkRetry::kOrderedSetOctets) + retry().round_trip();
    const Duration gap = octet_time_.of(static_cast<std::uint32_t>(framing().gap));
    slot_ = now + sent + (answered > gap ? answered : gap);
  }
  bool control_is_hit(Instant now) {
    if (!retries_ || retry().control_arrives(now)) return false;
    await_nack(now, kLeastFrameOctets);
    retry().control_again(slot_);
    return true;
  }

  template <class MakePfc>
  bool start_pfc(Instant now, MakePfc& make_pfc) {
    if (control_is_hit(now)) return true;
    std::array<std::uint16_t, kPriorities> quanta{};
    const PriorityMask mask = pfc_.take(now, quanta);
    look_up();
    return send_control(now, make_pfc(mask, quanta));
  }

  template <class MakeReport>
  bool start_report(Instant now, MakeReport& make_report) {
    if (control_is_hit(now)) return true;
    want_report(false);
    return send_control(now, make_report());
  }

  // A CF_Update goes between two frames, as the ordered sets that it is; a CC_Update is a frame.
  template <class MakeCredit>
  [[gnu::noinline]] bool start_credit(Instant now, MakeCredit& make_credit) {
    if (credits_->receiver.pending() != 0) {
      const wire::CreditMessage update = credits_->receiver.take();
      const std::uint32_t octets = PortCredits::update_octets(update.classes);
      return send_control(now, make_credit(update), octets, octets) && count_credit(octets);
    }
    if (control_is_hit(now)) return true;
    return send_control(now, make_credit(credits_->sender.take(now))) &&
           count_credit(framing().slot(kLeastFrameOctets));
  }
  bool count_credit(std::uint32_t octets) noexcept {
    credits_->sent.increment();
    credits_->sent_octets.add(octets);
    return true;
  }

  // Of the classes with frames, those whose first one has the credits that it needs.
  [[gnu::noinline]] PriorityMask affordable(Instant now) noexcept {
    return credits_->sender.affordable(now, nonempty_, [this](Priority p) {
      const QueuedFrame& f = queues_[p.index()].frames.front();
      return f.octets + ((f.notes & QueuedFrame::kTelemetry) != 0 ? PathTelemetry::kWireHopOctets : 0u);
    });
  }

  bool send_control(Instant now, Packet* frame) {
    return send_control(now, frame, framing().to_tail(kLeastFrameOctets), framing().slot(kLeastFrameOctets));
  }
  // Octets of time to the frame's tail, and to what is sent next.
  bool send_control(Instant now, Packet* frame, std::uint32_t to_tail, std::uint32_t slot) {
    if (frame == nullptr) return false;
    sending_ = {nullptr, kLeastFrameOctets, 0, QueuedFrame::kNoOrigin};
    tx_control_.increment();
    busy_ = true;
    slot_ = now + octet_time_.of(slot);
    channel_->push_control(now, octet_time_.of(to_tail) + control_lead_, frame);
    return true;
  }

  LinkRetry& retry() const noexcept { return *channel_->retry; }

  // Whether start() must look at pauses, credits, reports or retries at all: any bit.
  void look_up() noexcept {
    retries_ = has_retry_ && retry().active();
    attention_ = static_cast<PriorityMask>(pause_.touched() | pfc_.pending() | unsigned{report_due_} |
                                           unsigned{retries_} | unsigned{credits_ != nullptr});
  }

  Channel* channel_ = nullptr;
  OctetTime octet_time_;
  Duration data_lead_{};
  Instant slot_ = Instant::never();
  QueuedFrame sending_{};
  std::uint32_t seen_at_most_ = ~std::uint32_t{0};  // of a frame, before the receiver acts
  Priority sending_priority_{};
  bool busy_ = false;
  PriorityMask nonempty_ = 0;
  PriorityMask attention_ = 0;
  std::int16_t preamble_ = kPreambleOctets;  // the link's framing
  std::int16_t gap_ = kGapOctets;
  OctetTime::Rest clock_rest_;
  Scheduler scheduler_;
  std::array<ClassQueue, kPriorities> queues_;
  PfcSender pfc_;
  PauseState pause_;
  Duration control_lead_{};
  Duration quantum_{};
  std::uint32_t slower_ppb_ = 0;
  PriorityMask deaf_ = 0;  // classes that do not obey
  bool report_due_ = false;
  bool has_retry_ = false;  // the link has LLR,
  bool retries_ = false;    // ... and a fault may have frames retried
  std::unique_ptr<PortCredits> credits_;  // nothing: the link has none
  Counter tx_control_;
};

}  // namespace railyard
