// What is advanced as one: a switch, a host with all its NICs, an attachment to the outside.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/overrides.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/arrivals.h"
#include "dataplane/device/channel.h"
#include "dataplane/device/counters.h"
#include "dataplane/device/credit_config.h"
#include "dataplane/device/event_key.h"
#include "dataplane/device/int_source.h"
#include "dataplane/device/link_retry.h"
#include "dataplane/device/loss_log.h"
#include "dataplane/device/near_frames.h"
#include "dataplane/device/port_look.h"
#include "dataplane/device/queue_sample.h"
#include "dataplane/device/queued_frame.h"
#include "dataplane/device/tap.h"
#include "dataplane/device/topology_event.h"
#include "dataplane/device/trace_digest.h"
#include "dataplane/fault/link_faults.h"
#include "dataplane/packet/pool.h"

namespace railyard {

class StateArchive;

// What a worker lends to the device that it is advancing.
struct WorkerContext {
  static constexpr std::size_t kBurst = 32;

  PacketPool* pool = nullptr;
  ArrivalBatch arrivals;
  // What passes between a NIC and its endpoint at once. Here, and not on the stack, so that it is not set up each time.
  std::array<RxFrame, kBurst> received;
  std::array<TxFrame, kBurst> to_send;
  std::array<Packet*, kBurst> packets;
  // Of any device, links as the end there sees them; in no order. Whoever wants them takes them between windows.
  std::vector<TopologyEvent> topology_events;
};

// A device handles its events in exact order, whatever the portions in which time is handed to it. It shares nothing
// with other devices but channels.
class Device {
 public:
  // `ports` <= EventKey::kMaxPorts.
  Device(DeviceId id, std::string name, std::size_t ports);
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceId id() const noexcept { return id_; }
  const std::string& name() const noexcept { return name_; }
  std::size_t ports() const noexcept { return ingress_.size(); }

  // Handles, in order, everything due before `until`. Slicing is invisible: any partition of time gives the same bytes.
  // Returns the earliest instant at which it has something to do. `until` <= done(): a no-op that returns the same.
  Instant advance(Instant until);
  // What advance() last returned, lowered by changes since.
  Instant next() const noexcept { return next_; }
  // Everything before this has been handled.
  Instant done() const noexcept { return done_; }

  // Has `change` done at `at` (>= done()), before every other event of that instant; changes of one instant in the
  // order of these calls. Only while the engine rests. Returns the new earliest instant.
  Instant change_at(Instant at, std::function<void(Instant)> change);
  // Has `take` handed the counters as they are at `at`, after the changes and before all other events of that instant.
  Instant snapshot_at(Instant at, std::function<void(DeviceCounters)> take);

  // Both halves of a port. `in` is where this device receives; it must be `out`'s opposite. `rate` > 0.
  void connect(PortIndex port, Channel& in, Channel& out, BitRate rate);
  // How long after its arrival a data frame first matters here, and a pause frame on a link of `rate`.
  virtual Duration data_latency() const noexcept = 0;
  virtual Duration pause_response(BitRate rate) const noexcept = 0;
  virtual bool cuts_through() const noexcept { return false; }

  // The link of `port` goes down or up at `at`; the device at its other end must be told the same.
  void link_down_at(Instant at, PortIndex port);
  void link_up_at(Instant at, PortIndex port);
  bool link_up(PortIndex port) const noexcept { return ingress_[port.index()].up; }

  // The link of `port` has another rate from `at` on, for what begins then or later; the device at its other end,
  // whose response to a pause frame at that rate is `peer_response`, must be told the same. `rate` > 0.
  void set_rate_at(Instant at, PortIndex port, BitRate rate, Duration peer_response);

  // Faults of the link of `port`, as changes (change_at) of the devices at both its ends. It is down as long as any
  // fault or anybody else has it so. In each direction it has the rate that it was given, of which the last fault of that
  // direction leaves a share, numerator / denominator in (0, 1].
  void begin_down(Instant now, PortIndex port);
  void end_down(Instant now, PortIndex port);
  struct Share {
    std::int64_t numerator;
    std::int64_t denominator;
  };
  enum class Way { kSends, kReceives };  // as this device sees it; the device at the far end is told the other
  // Frames that have come in at `port` so far. Only while the engine rests.
  std::uint64_t delivered(PortIndex port) const noexcept { return delivered_[port.index()].read(); }
  // Whether there is a signal at `port`, of a link that is not held down.
  bool has_signal(PortIndex port) const noexcept { return ingress(port).up; }
  // Data packets lost on links to this device that were down or had a fault, and for want of a way here. Only while the
  // engine rests.
  const LossLog& losses() const noexcept { return losses_; }
  // As a change: others are to avoid the device from now on, or no more. It goes on as before.
  void note_drained(Instant now, bool on);
  // A session of BFD has gone down, or up again, while the link is up.
  void note_bfd(Instant now, PortIndex port, bool up);
  void begin_degraded(Instant now, PortIndex port, Way way, std::uint32_t fault, Share share);
  void end_degraded(Instant now, PortIndex port, Way way, std::uint32_t fault);
  // The device at the far end of `port`: whose response to pause frames depends on the rate.
  void far_end(PortIndex port, const Device& device) noexcept { ingress(port).far = &device; }

  // Faults of the link of `port`, in the direction of this device; made when there are none yet. `longest`: for how
  // long they may hold a frame back. Only while the engine rests.
  LinkFaults& link_faults(PortIndex port, Duration longest = {});
  // Those of them that have ended at `now` go, when what they hold has gone; then nothing is left of them.
  void prune_link_faults(Instant now, PortIndex port);

  // What this device sends at `port`, which is connected, is retried on the link (LLR), as what comes in there is by its
  // peer. For devices that send through an EgressPort, before anything is sent.
  void retry_frames(PortIndex port, const LinkRetryConfig& config);
  // nullptr: the link has no LLR.
  const LinkRetry* link_retry(PortIndex port) const noexcept {
    return port.index() < link_retries_.size() ? link_retries_[port.index()].get() : nullptr;
  }
  // Credit-based flow control (CBFC) on the link of `port`, which is connected: of what this device sends there, and of
  // what comes in. For devices that send through an EgressPort, before anything is sent.
  virtual void use_credits(PortIndex port, const CreditConfig& sends, const CreditConfig& receives) {
    static_cast<void>(port), static_cast<void>(sends), static_cast<void>(receives);
  }
  // Faults of the link of `port` that LLR mends, in the direction that this device sends. Only while the engine rests.
  // Those that have ended go, as with prune_link_faults().
  void add_retried_fault(PortIndex port, std::shared_ptr<FrameFault> fault);
  void prune_retried_faults(Instant now, PortIndex port);

  // A device with something outside is polled under the wall clock, between windows. Returns the new earliest instant.
  // `wall`: the moment (CLOCK_MONOTONIC) that `now` is made from, a little ago.
  virtual bool polled() const noexcept { return false; }
  virtual Instant poll([[maybe_unused]] Instant now, [[maybe_unused]] Duration wall) { return next_; }
  // Adds the descriptors that are readable when a poll would bring something. False: it would have to be polled anyway.
  virtual bool readable(std::vector<int>& descriptors) const { return static_cast<void>(descriptors), true; }
  // Half of a poll, for the end of a run: hands out what waits for the outside, and takes nothing in.
  virtual void give_outside(Instant now) { static_cast<void>(now); }

  // Which worker's resources to use from now on. Only while the engine rests.
  void place(WorkerContext& context) noexcept { context_ = &context; }

  // What advance() will touch, on its way into the cache: the device itself, and some time later what it points to.
  void prefetch() const noexcept {
    for (std::size_t line = 0; line < kHotOctets; line += 64) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + line, 1);
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this + 1) + line, 1);  // of the derived class
    }
  }
  virtual void prefetch_parts() const noexcept {
    near_.prefetch();
    __builtin_prefetch(delivered_.data(), 1);
  }
  // Then what these name, and then what that does.
  virtual void prefetch_contents() const noexcept { near_.prefetch_packets(); }
  virtual void prefetch_rest() const noexcept {}

  // Where channels from devices of the same worker put their frames. `rings`: there are channels that do not. Only
  // while the engine rests.
  NearFrames& receive_near(bool rings) noexcept { return rings_ = rings, near_; }

  // `tap` sees what `port` receives, sends and drops; nullptr: nobody does.
  void tap(PortIndex port, Tap* tap);
  void digest_departures(bool on);
  // From now on the device notes what it knows of packets that are sampled, or no more. `source`, which stays as long
  // as the device runs, samples what begins here; nullptr: nobody does. Only while the engine rests.
  void record_int(bool on, IntSource* source);
  IntSource* int_source() const noexcept { return int_source_; }
  TraceDigest digest() const noexcept { return digest_; }

  // Since when the peer of `port` has had a class of it paused without a break; Instant::never() if it has not at
  // done(). Only while the engine rests.
  Instant paused_since(PortIndex port, Priority priority) const {
    return told_ != nullptr ? told_->paused_since[port.index() * kPriorities + priority.value]
                            : class_paused_since(port, priority);
  }

  // One queue at done(). Only while the engine rests.
  QueueSample sample(PortIndex port, Priority priority) const {
    return told_ != nullptr ? told_->samples[port.index() * kPriorities + priority.value]
                            : queue_sample(port, priority);
  }

  // A port at done(). Only while the engine rests.
  PortLook look(PortIndex port) const { return told_ != nullptr ? told_look(port) : port_look(port); }

  // ---- Fabrics that several processes run, each a part of the devices (run/parts.h)

  // Another process advances it. Before anything runs.
  void leave_to_another();
  bool is_elsewhere() const noexcept { return told_ != nullptr; }
  // What anybody may ask of it while the engine rests, or only a part of that: told by the process that advances it,
  // taken by the others, where it then answers as it would there. Not the packets that it holds
  // (Fabric::exchange_packets).
  enum Figures : unsigned {
    kQueueFigures = 1,  // sample(), paused_since(), has_signal()
    kPauseFigures = 2,  // paused_since(), Switch::waiting()
    kAllFigures = 7,
  };
  void exchange_figures(StateArchive& archive, Figures which = kAllFigures);

  // Calls `see` for every packet that the device holds. Only while the engine rests.
  virtual void for_each_held(const std::function<void(const Packet&)>& see) const = 0;
  // And for every packet on the way here that is in no ring: sent within the worker, or held back by a fault.
  void for_each_coming(const std::function<void(const Packet&)>& see) const;

  // The counters at done(), for a device that rests.
  DeviceCounters counters() const;
  // What the counters say while the engine runs, for any thread: each is right, but they are not of one instant, and
  // what takes more than reading a counter is 0 (`at`, frames held, cells of a port), and times paused come a little late.
  DeviceCounters live_counters() const;

 protected:
  // The receiving half of a port.
  struct Ingress {
    Counter lost;
    Counter lost_to_faults;  // and `duplicated`: by faults that are gone
    Counter duplicated;
    Duration data_latency{};
    Framing framing;
    Duration propagation{};
    Duration control_flight{};  // of a MAC control frame, from its start to the arrival of its tail
    bool up = true;
    bool wanted_up = true;        // but for faults
    std::uint32_t held_down = 0;  // faults that have the link down
    BitRate rate{};               // but for faults
    Duration peer_response{};     // at that rate
    Overrides<Share> sends_less;  // of that rate, by faults of one direction or of both
    Overrides<Share> receives_less;
    const Device* far = nullptr;
    std::vector<Instant> downs;  // when the link went down, as far back as frames may still be on their way
    // Flights of frames begun before the link got another rate, soonest first, as far back as `downs`.
    struct EarlierFlight {
      Instant begun_before;
      Duration control_flight;
    };
    std::vector<EarlierFlight> earlier;
    Duration on_the_way{};  // no frame is for longer
  };

  // Does everything due in [done(), until); no change or snapshot is due in between. Returns the earliest instant >=
  // `until` at which it has something to do.
  virtual Instant run(Instant until) = 0;
  virtual void connected(PortIndex port, Channel& out, BitRate rate) = 0;
  virtual void on_link_down(Instant now, PortIndex port) = 0;
  virtual void on_link_up(Instant now, PortIndex port) = 0;
  // For devices that send.
  virtual void on_new_rate(Instant, PortIndex, BitRate, Duration /*peer_response*/) {}
  // retry_frames(), and whenever there is something else for `retry` to do.
  virtual void on_link_retry(PortIndex port, LinkRetry& retry) { static_cast<void>(port), static_cast<void>(retry); }
  // A fault of the link has taken a data frame that used credits.
  virtual void on_credits_lost(Instant at, PortIndex port, CreditStamp stamp) {
    static_cast<void>(at), static_cast<void>(port), static_cast<void>(stamp);
  }
  // key_base() has moved: keys that are kept must be made anew.
  virtual void on_new_key_base() = 0;
  // What a device of its kind tells beside that, in exchange_figures().
  virtual void exchange_more(StateArchive& archive, Figures which) { static_cast<void>(archive), static_cast<void>(which); }
  virtual Instant class_paused_since(PortIndex port, Priority priority) const {
    return static_cast<void>(port), static_cast<void>(priority), Instant::never();
  }
  virtual QueueSample queue_sample(PortIndex port, Priority priority) const {
    return static_cast<void>(port), static_cast<void>(priority), QueueSample{};
  }
  virtual PortLook port_look(PortIndex port) const { return static_cast<void>(port), PortLook{}; }
  // Fills what are Counters; any thread may call it. Then the rest, for a device that rests.
  virtual void count_live(DeviceCounters& counters) const = 0;
  virtual void count_rest(DeviceCounters& counters) const = 0;

  // The next frames that come, as far as that is known.
  std::span<const NearFrame> coming() const noexcept { return near_.first(); }

  // Something has come up outside of advance(): there is something to do at `at`.
  Instant lower_next(Instant at) noexcept { return next_ = at < next_ ? at : next_; }

  // Takes what takes effect before `until` out of the channels into arrivals(), sorted. Returns the earliest effect
  // that remains. Frames that the wire has lost are released and counted here.
  Instant collect(Instant until);
  ArrivalBatch& arrivals() noexcept { return context_->arrivals; }
  WorkerContext& context() noexcept { return *context_; }

  // Whether anybody looks at packets at all: in-band telemetry, a digest or a tap.
  bool observed() const noexcept { return observed_; }
  bool tapped() const noexcept { return tapped_; }
  bool records_int() const noexcept { return (notes_ & QueuedFrame::kSampled) != 0; }
  // What is to be noted when `packet`, which is queued now, departs.
  unsigned notes_of(const Packet& packet) const noexcept {
    if (notes_ == 0) [[likely]]
      return 0;
    return notes_ & (packet.sampled | unsigned{packet.telemetry} << 1);
  }
  // From now on packets that carry telemetry are noted when they depart.
  void note_telemetry() noexcept {
    notes_ |= QueuedFrame::kTelemetry;
    review_observed();
  }
  virtual void on_record_int() {}
  // What leaves passes here if observed(); what is received and dropped if tapped().
  void observe_departure(Instant now, PortIndex port, const Packet& packet, const TapNote& note);
  // Whether observe_departure() has anything to do.
  bool notes_departures() const noexcept { return tapped_ || digest_on_; }
  // A packet begins its way here. If records_int().
  void int_departure(Instant now, PortIndex port, Priority priority, Packet& packet) noexcept {
    if (int_source_ != nullptr) int_source_->departure(name_, port, priority, now, packet);
  }
  // A sampled packet has arrived; `effect`: its event's instant.
  void int_arrival(IntStack& stack, Instant effect, PortIndex port, Priority priority, const Packet& packet) noexcept {
    stack.arrive(name_, port, priority, effect - ingress(port).data_latency, packet.frame_octets);
  }
  void observe(Instant now, PortIndex port, const Packet& packet, const TapNote& note) {
    if (Tap* t = taps_[port.index()]; t != nullptr) t->see(now, packet, note);
  }

  // A data packet has found no way on.
  void note_loss(Instant at) { losses_.note(at); }

  PacketPool& pool() noexcept { return *context_->pool; }
  Instant key_base() const noexcept { return key_base_; }
  Ingress& ingress(PortIndex port) noexcept { return ingress_[port.index()]; }
  const Ingress& ingress(PortIndex port) const noexcept { return ingress_[port.index()]; }

 private:
  void exchange_queues(StateArchive& archive);
  void review_observed() noexcept { observed_ = notes_departures() || notes_ != 0; }

  static constexpr std::size_t kHotOctets = 192;
  // Slices are cut so that event keys never reach their limit.
  static constexpr Duration kLongestSlice{EventKey::kReach.ps / 4};

  // What a device remembers of a port's incoming FIFOs.
  struct alignas(64) Inbox {
    Channel* channel = nullptr;
    Instant next_data = Instant::never();  // effect of the oldest frame it knows of
    Instant next_control = Instant::never();
    bool link_was_down = false;    // frames may have been lost on the wire
    LinkFaults* faults = nullptr;  // nothing can go wrong
  };
  // Which of 64 ports' FIFOs of one kind have something: newly, or still.
  struct Watch {
    DoorbellWord rung;
    std::uint64_t waiting = 0;
    Instant next = Instant::never();  // the earliest effect among those that wait
  };

  // Of a device that another process advances: what that has told.
  struct Told {
    DeviceCounters counters;
    std::vector<Instant> paused_since;  // by port and class
    std::vector<QueueSample> samples;
  };

  PortLook told_look(PortIndex port) const;

  struct Scheduled {
    Instant at;
    bool snapshot;
    std::uint64_t order;
    std::function<void(Instant)> act;
  };

  Instant schedule(Instant at, bool snapshot, std::function<void(Instant)> act);
  Instant run_slices(Instant until);
  Instant take(Inbox& inbox, PortIndex port, Channel::Fifo& fifo, EventKind kind, Instant until);
  Instant collect_near(Instant until);
  Instant collect_near_troubled(Instant until);
  Instant collect_rings(Instant until);
  template <EventKind kind>
  Instant collect_kind(std::vector<Watch>& watches, Instant until);
  void go_down(Instant now, PortIndex port);
  void go_up(Instant now, PortIndex port);
  void use_rate(Instant now, PortIndex port);
  Instant take_faulty(Inbox& inbox, PortIndex port, Channel::Fifo& fifo, EventKind kind, Instant until);
  void pass_faults(Inbox& inbox, PortIndex port, const InFlight& frame, EventKind kind);
  Instant release_held(Inbox& inbox, PortIndex port, EventKind kind, Instant until);
  bool lost_with_link(const Inbox& inbox, PortIndex port, const InFlight& frame, EventKind kind);
  void deliver(PortIndex port, EventKind kind, Instant effect, Packet* packet);
  void look_for_trouble() noexcept;
  Instant arrival_of(const Ingress& in, const InFlight& frame, EventKind kind) const noexcept;
  bool lost_on_the_wire(const Ingress& in, const InFlight& frame, EventKind kind) const noexcept;

  // What every slice looks at comes first.
  Instant done_{};
  Instant next_{};  // a fresh device is asked at once
  Instant key_base_{};
  Instant scheduled_next_ = Instant::never();
  Instant slice_limit_{kLongestSlice.ps};  // advance() as far as this needs no thought about keys
  WorkerContext* context_ = nullptr;
  NearFrames near_;
  bool rings_ = true;
  bool troubled_ = false;  // a link may have lost frames, or has faults
  bool digest_on_ = false;
  bool tapped_ = false;
  std::uint8_t notes_ = 0;  // of QueuedFrame::Note: those that packets are asked for
  bool observed_ = false;
  std::vector<Counter> delivered_;  // by port
  std::vector<Inbox> inboxes_;      // by port
  std::vector<Watch> data_;         // by port / 64
  std::vector<Watch> control_;
  std::vector<Ingress> ingress_;
  std::vector<std::unique_ptr<LinkFaults>> link_faults_;  // by port; empty: there are none at all
  std::vector<std::unique_ptr<LinkRetry>> link_retries_;  // by port; empty: none has LLR
  LossLog losses_;
  std::unique_ptr<Told> told_;
  std::vector<Tap*> taps_;
  IntSource* int_source_ = nullptr;
  TraceDigest digest_;
  std::vector<Scheduled> scheduled_;  // soonest last
  std::uint64_t scheduled_count_ = 0;
  DeviceId id_;
  std::string name_;
};

}  // namespace railyard
