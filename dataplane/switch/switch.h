// The virtual switch: one shared-memory ASIC, handling its packets in exact order of modelled time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/drop_reason.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/slot_queue.h"
#include "dataplane/device/attachment.h"
#include "dataplane/device/device.h"
#include "dataplane/device/drop_counters.h"
#include "dataplane/device/egress_port.h"
#include "dataplane/device/start_list.h"
#include "dataplane/switch/ecn_marking.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/switch/mmu.h"
#include "dataplane/switch/path/quality_reporter.h"
#include "dataplane/switch/path/selector.h"
#include "dataplane/switch/pfc_watchdog.h"
#include "dataplane/switch/queue_watch.h"
#include "dataplane/switch/switch_config.h"
#include "dataplane/switch/switch_settings.h"

namespace railyard {

// A packet's way: collect() from the channels (device.h) -> decide(): MAC reception, classify, forward, path ->
// admit(): MMU, PFC generation, ECN, queue -> start(): schedule and transmit -> on_transmit_end(): release. Each
// decision is in a header of its own in this folder; decide.cc, admission.cc and switch.cc are the order in which they
// are asked.
class Switch final : public Device {
 public:
  // Throws std::invalid_argument with the place and the reason if `config` cannot be.
  Switch(DeviceId id, std::string name, SwitchConfig config);
  ~Switch() override;

  Duration data_latency() const noexcept override { return config_.latency; }
  Duration pause_response(BitRate rate) const noexcept override;
  bool cuts_through() const noexcept override { return config_.mode == ForwardingMode::kCutThrough; }

  void for_each_held(const std::function<void(const Packet&)>& see) const override;
  // Packets that had CE already when this egress queue was deep enough to mark them (ClassCounters::ecn_marked has those
  // that got it here). Any thread.
  std::uint64_t came_marked(PortIndex port, Priority priority) const noexcept {
    return history_[index(port, priority)].came_marked.read();
  }

  // Frames that came in by one class of one port and wait in one queue of another.
  struct Waiting {
    PortIndex in;
    Priority in_class;
    PortIndex out;
    Priority out_class;
    std::uint64_t frames;
  };
  // All there are, by queue, then by where they came in. What the switch made itself came in nowhere and is left out.
  // Only while the engine rests.
  std::vector<Waiting> waiting() const;

  void use_credits(PortIndex port, const CreditConfig& sends, const CreditConfig& receives) override;

  void prefetch_parts() const noexcept override;
  void prefetch_contents() const noexcept override;
  void prefetch_rest() const noexcept override;

  // Changes, to be called from change_at(): they take effect at the instant at which they run.
  void set_ecn(PortIndex port, Priority priority, const EcnConfig& ecn);
  void set_wred(PortIndex port, Priority priority, const WredConfig& wred);
  // All at once; what is as it was is left alone. A class whose limits have changed says XOFF or XON at once if it is
  // on the other side of them now.
  void apply(Instant now, const SwitchSettings& settings);
  // Another host is behind `port` now; nothing: its address is learnt from what arrives.
  void set_peer(Instant now, PortIndex port, std::optional<wire::MacAddress> mac);
  void set_routes(std::shared_ptr<const FecTable> fecs, std::span<const Route> routes);
  // Where a packet that came in at `in` would go now (switch_explain.cc). Only while the engine rests.
  struct NextHop {
    struct Member {
      PortIndex port;
      std::uint32_t weight;
      bool up;
      Priority out_class{0};  // after the remap-to of the port ...
      std::uint8_t out_dscp = 0;  // ... and the DSCP that it goes on with, if that is another class
    };
    Priority in_class{0};
    NextHops::Kind kind = NextHops::Kind::kNone;
    std::vector<Member> members;
    PathPolicy policy = PathPolicy::kEcmp;
    std::uint32_t hash = 0;            // of the flow, as this switch mixes it
    std::optional<PortIndex> chosen;   // nothing: it depends on the moment or on the packet
  };
  NextHop next_hop(const Packet& packet, PortIndex in) const;

  // As a change: BFD sends no more, and its sessions stay as they are. So a run can come to rest.
  void stop_bfd();
  // Whether a session of BFD is up though nothing was heard for longer than its detection time: never, with the engine
  // at rest at `now`.
  bool bfd_is_late(Instant now, PortIndex port) const noexcept {
    return bfd_ != nullptr && bfd_->has(port) && bfd_->silence(now, port) > bfd_->detection_time();
  }

  // Whether it hears how busy the ports of the switch at `port` are; then what that one forwards by from now on.
  bool listens_to(PortIndex port) const noexcept { return config_.ports[port.index()].quality.beyond != nullptr; }
  void set_table_beyond(PortIndex port, std::shared_ptr<const ForwardingTable> table);

  // Faults (switch_faults.cc), as changes as well. `fault` names who wants it so; the last one that began holds, and
  // what is configured when the last ends.
  void begin_wrong_ecn(std::uint32_t fault, PortIndex port, Priority priority, const EcnConfig& ecn);
  void end_wrong_ecn(std::uint32_t fault, PortIndex port, Priority priority);
  void begin_wrong_dscp_map(std::uint32_t fault, PortIndex port, const std::vector<std::pair<int, int>>& to_class);
  void end_wrong_dscp_map(std::uint32_t fault, PortIndex port);
  void begin_mtu(std::uint32_t fault, PortIndex port, std::uint32_t mtu);
  void end_mtu(std::uint32_t fault, PortIndex port);
  void begin_pfc_storm(Instant now, std::uint32_t fault, PortIndex port, PriorityMask classes);
  void end_pfc_storm(Instant now, std::uint32_t fault, PortIndex port);
  void begin_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port);
  void end_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port);
  // So much of the shared memory is gone, as far as there is any.
  void begin_buffer_taken(Instant now, std::uint32_t fault, Bytes size);
  void end_buffer_taken(Instant now, std::uint32_t fault);
  // Everything held is lost, and neighbours that were learnt are forgotten. That its links are down until it is up
  // again is to be said to them.
  void crash(Instant now);

  // The control plane of `port` is outside from now on (switch_control.cc): `speaker` gets what is for the switch
  // itself, and what it sends leaves by this port. nullptr: it is taken away. Returns what was there. Only while the
  // engine rests, and under the wall clock.
  std::unique_ptr<Attachment> attach_control(PortIndex port, std::unique_ptr<Attachment> speaker);
  // As a change: addresses of the speaker beside those that routes call local.
  void set_local_addresses(std::vector<wire::IpAddress> addresses);

  bool polled() const noexcept override { return !control_.empty(); }
  Instant poll(Instant now, Duration wall) override;
  bool readable(std::vector<int>& descriptors) const override;
  void give_outside(Instant now) override;

  // Has an eye on a queue from now on, or no more. Only while the engine rests; Engine::wake_all() must follow.
  void watch(std::shared_ptr<QueueWatch> watch);
  void unwatch(const QueueWatch& watch);

  const Mmu& mmu() const noexcept { return mmu_; }

  // Counts anew what every queue holds, and says what does not agree with it (switch_audit.cc): memory by queue and by
  // ingress group, thresholds, that who was told XOFF is who should be, and that nothing is believed of a neighbour
  // that is not there. Nothing: all is right. Only while the engine rests; takes a look at every frame.
  std::vector<std::string> audit() const;
  const SwitchConfig& config() const noexcept { return config_; }

 protected:
  Instant run(Instant until) override;
  void connected(PortIndex port, Channel& out, BitRate rate) override;
  void on_link_down(Instant now, PortIndex port) override;
  void on_link_up(Instant now, PortIndex port) override;
  void on_new_rate(Instant now, PortIndex port, BitRate rate, Duration peer_response) override;
  void on_link_retry(PortIndex port, LinkRetry& retry) override { egress_[port.index()].retry_through(retry); }
  void on_credits_lost(Instant at, PortIndex port, CreditStamp stamp) override {
    egress_[port.index()].credit_lost(at, stamp);
  }
  void on_new_key_base() override;
  void on_record_int() override;
  void exchange_more(StateArchive& archive, Figures which) override;
  Instant class_paused_since(PortIndex port, Priority priority) const override;
  QueueSample queue_sample(PortIndex port, Priority priority) const override;
  PortLook port_look(PortIndex port) const override { return egress_[port.index()].look(done()); }
  void count_live(DeviceCounters& counters) const override;
  void count_rest(DeviceCounters& counters) const override;

 private:
  // What decide() concluded about a frame.
  enum Verdict : std::uint8_t {
    kUndecided,
    kForward,
    kStartable,   // kForward, and the whole frame will be there in time (cut-through)
    kLocal,       // for the switch itself, or for its control plane (ARP, neighbour discovery)
    kTtlExpired,  // to be answered
    kTooBig,      // to be answered
    kUnresolved,  // the next hop's MAC address must be asked for
    kAtItsTurn,   // its path depends on the moment: decide_path_now()
    kDrop = 64,   // + DropReason
  };
  static constexpr std::uint8_t verdict(DropReason reason) noexcept {
    return static_cast<std::uint8_t>(kDrop + static_cast<std::uint8_t>(reason));
  }

  // What decide() reads of a port: one cache line.
  struct alignas(64) PortFacts {
    std::array<std::uint8_t, 12> rewrite{};  // destination and source MAC of what leaves here
    std::uint16_t native_vid = kDefaultVid;
    bool peer_known = false;  // else its address in `rewrite` is what was heard, or 0
    bool up = true;
    bool misclassifies = false;  // what comes in: a fault has its class wrong
    bool remaps = false;         // what leaves changes its class
    std::uint32_t largest_frame = 0;  // with tag and FCS
    std::uint32_t mtu = 0;
    std::uint64_t mac = 0;  // ours, as the first six octets of a header read in memory order
    const TrustMap* trust = nullptr;
    OctetTime octet_time;
  };

  // One class of one egress port: what admission and marking touch, in one cache line.
  struct alignas(64) Queue {
    Mmu::Queue memory;
    MarkingLaw law;
    RngStream rng;
    Counter marked;
    bool mark_at_dequeue = false;
    // What admit() must look at before it asks for memory; mostly nothing.
    enum Stop : std::uint8_t { kDropNotEct = 1, kStorm = 2, kWred = 4 };
    std::uint8_t stops = 0;
  };
  static_assert(sizeof(Queue) == 64);
  struct Carried {
    Instant at;
    Arrival arrival;
  };

  // Deciding (decide.cc): what happens to a frame, from the frame and the tables alone.
  void decide(Arrival& a) {
    decide_port(a);
    decide_rest(a);
  }
  void decide_port(Arrival& a);
  void decide_rest(Arrival& a);
  void decide_tapped(Instant now, Arrival& a);
  std::uint8_t decide_mac(const Packet& packet, const PortFacts& in) const noexcept;
  std::uint8_t decide_ip(Packet& packet, PortIndex in, Priority priority, Arrival& a);
  void decide_path_now(Instant now, Arrival& a);
  std::uint8_t decide_egress(Packet& packet, PortIndex in, Priority priority, Arrival& a);
  void hear(PortIndex port, wire::MacAddress mac) noexcept;
  void resolve(Arrival& a);
  bool apply_vlan(Packet& packet, PortIndex in, PortIndex out);
  std::optional<std::uint16_t> vlan_of(const Packet& packet, PortIndex in) const noexcept;
  bool leave_in_vlan(Packet& packet, std::uint16_t vlan, PortIndex out) const noexcept;
  Priority review_class(Packet& packet, PortIndex in, PortIndex out, Priority priority) noexcept;
  static void remark(Packet& packet, const PortFacts& in, Priority to) noexcept;
  static void remark_pcp(Packet& packet, const TrustMap& map, Priority to) noexcept;

  static constexpr std::size_t index(PortIndex port, Priority priority) noexcept {
    return port.index() * kPriorities + priority.index();
  }
  // Of a key of slots_, one that is not there included.
  const EgressPort* egress_of(std::uint64_t key) const noexcept {
    const std::size_t port = EventKey::port(key);
    return port < egress_.size() ? &egress_[port] : nullptr;
  }
  void prefetch(std::uint64_t key) const noexcept {
    if (const EgressPort* const e = egress_of(key)) e->prefetch();
  }
  void prefetch_departure(std::uint64_t key) const noexcept;
  void prefetch_next(std::uint64_t key) const noexcept {
    if (const EgressPort* const e = egress_of(key)) e->prefetch_next();
  }
  static constexpr std::uint32_t kSlotsAhead = 3;

  // Doing, in order (switch.cc).
  bool deferred(Instant now, ArrivalBatch& batch, Arrival* next, std::uint64_t limit);
  void on_arrival(Instant now, Arrival& a);
  void on_mac_control(Instant now, PortIndex port, Packet* packet);
  void on_exception(Instant now, Arrival& a);
  void on_transmit_end(Instant now, PortIndex port, bool more_now);
  void on_timer(Instant now, PortIndex port);
  void start(Instant now, PortIndex port);
  void release(Instant now, const QueuedFrame& frame, PortIndex port, Priority priority);
  void drop_queued(Instant now, PortIndex port, PriorityMask classes, DropReason reason);
  void pfc_wanted(Instant now, std::size_t group, bool xoff);
  void set_refresh(Instant due);
  void set_device_timer();
  TapNote departure_note(PortIndex port, Priority priority, const Packet& packet) const noexcept;
  void observe_start(Instant now, PortIndex port, Priority priority, Packet& packet);

  // Memory for a frame, or none (admission.cc).
  void admit(Instant now, const Arrival& a);
  bool stopped(Instant now, const Arrival& a, Queue& queue, std::uint32_t depth);
  void refused(Instant now, const Arrival& a, DropReason reason);
  bool take_last_instead(Instant now, const Arrival& a, const TrimConfig& to);
  void cut_to_headers(Instant now, const Arrival& a, const TrimConfig& to, std::size_t group);
  void enqueue(Instant now, const Arrival& a);
  void note_first_xoff(Instant now, std::size_t queue);
  void mark(Instant now, Queue& queue, std::uint32_t depth, Packet& packet) noexcept;
  void drop(Instant now, const Arrival& a, DropReason reason);

  // Credit-based flow control (switch_credits.cc).
  CreditStamp credit_arrival(Instant now, PortIndex port, const Packet& packet);
  void credits_changed(Instant now, std::size_t group);
  void on_credit_message(Instant now, PortIndex port, Packet* packet);
  Packet* make_credit_message(Instant now, PortIndex port, const wire::CreditMessage& message);

  // The PFC watchdog (switch_watchdog.cc).
  void arm_watchdog(Instant now, PortIndex port, PriorityMask paused);
  void poll_watchdog(Instant now);
  bool obeys_pauses(std::size_t queue) const noexcept {
    return (config_.ports[queue / kPriorities].pfc.rx >> queue % kPriorities & 1) != 0;
  }
  void on_storm(Instant now, PortIndex port, Priority priority);
  void on_storm_over(Instant now, PortIndex port, Priority priority);

  // Changes (switch_changes.cc).
  void apply_class(Instant now, PortIndex port, Priority priority, const SwitchClassConfig& to);
  void apply_headroom(Instant now, const SwitchSettings& settings);
  void apply_pfc(Instant now, PortIndex port, const PfcEnable& to);
  void set_paths(const PathSelectorConfig& paths, bool had_loads);
  void settle_headroom(Instant now);

  // Global load balancing (switch_quality.cc): what is reported to the neighbours, and what they report.
  bool apply_quality(const SwitchSettings& settings);
  void use_tables_beyond();
  void use_listeners();
  void review_quality(Instant now);
  void quality_changed(Instant now);
  void look_at_quality(Instant now, PortIndex port) {
    if (reporter_.on() && reporter_.differs(port, paths_.load_of(port))) quality_changed(now);
  }
  void quality_link(Instant now, PortIndex port, bool up);
  void send_quality(Instant now);
  Packet* make_report(Instant now, PortIndex port);
  Packet* make_quality_report(Instant now, PortIndex port);
  void on_quality_report(Instant now, PortIndex port, Packet* packet);
  void on_quality_due(Instant now);
  void set_quality_due();

  // BFD with neighbours (switch_bfd.cc).
  void set_up_bfd();
  void on_bfd_due(Instant now);
  void bfd_changed(Instant now, PortIndex port, bool up);
  void send_bfd(Instant now, PortIndex port);
  Packet* make_bfd_control(Instant now, PortIndex port);
  void on_bfd_control(Instant now, PortIndex port, Packet* packet);
  void bfd_link(Instant now, PortIndex port, bool up);

  // Faults (switch_faults.cc).
  struct Faulty;
  Faulty& faulty();
  void use_ecn(PortIndex port, Priority priority);
  void use_dscp_map(PortIndex port);
  void use_mtu(PortIndex port);
  void use_pfc_storm(Instant now, PortIndex port);
  void use_pauses(Instant now, PortIndex port);
  void review_groups(Instant now);
  void look_at_queue(Instant now, const Arrival& a);
  void look_at_depth(Instant now, const Arrival& a);
  void look_at_once(Instant now, QueueWatch& watch);
  void look_at_pauses(Instant now, PortIndex port, PriorityMask before, PriorityMask enable);
  void on_watches_due(Instant now);

  // In-band telemetry (switch_int.cc).
  void note_arrivals();
  // And what its ports say to congestion controls.
  void add_hop(Instant now, PortIndex port, Priority priority, Packet& packet);

  // The control plane (local_delivery.cc).
  void deliver_locally(Instant now, const Arrival& a);
  bool speaks_for(const wire::IpAddress& address, PortIndex in) const noexcept;
  void send_icmp_error(Instant now, const Arrival& a);
  void await_neighbour(Instant now, const Arrival& a);
  void ask_for_neighbour(Instant now, const Arrival& a);
  void release_awaiting(Instant now);
  void meet(Instant now, const Arrival& a);
  void learn_peer(Instant now, PortIndex port, wire::MacAddress mac);
  void forget_peer(PortIndex port);
  std::span<std::byte> room_of(Packet& packet) const noexcept;
  bool describe_own(Packet& packet, std::size_t octets);
  void originate(Instant now, Packet* packet, std::size_t octets, PortIndex out);
  void originate_routed(Instant now, Packet* packet, std::uint16_t vlan);
  void originate_at(Instant now, Packet* packet, PortIndex out);
  void originate_in(Instant now, Packet* packet, PortIndex out, Priority priority);
  void drop_own(Instant now, Packet* packet, DropReason reason);
  void consume(Packet* packet);

  // The control plane outside (switch_control.cc).
  struct ControlPort;
  bool is_for_speaker(const Packet& packet) const noexcept;
  void punt(Instant now, const Arrival& a);
  void give_speaker(ControlPort& control);
  void take_from_speaker(Instant now, PortIndex port);
  void control_link(PortIndex port, bool up) noexcept;

  SwitchConfig config_;
  std::vector<std::shared_ptr<QueueWatch>> watched_;
  std::vector<Waiting> told_waiting_;  // if another process advances it
  Instant watch_due_ = Instant::never();
  std::shared_ptr<Faulty> faulty_;  // what faults have put in the place of `config_`; nothing: none ever did
  Mmu mmu_;
  ForwardingTable forwarding_;
  PathSelector paths_;
  QualityReporter reporter_;
  std::vector<PortFacts> facts_;
  std::vector<EgressPort> egress_;
  std::vector<Queue> queues_;       // by port and class
  std::vector<Mmu::Group> groups_;  // by port and class; one port more: what the switch itself sends
  SlotQueue slots_;                 // one per port, and one for the device's timers
  StartList starts_;
  std::vector<Carried> carried_;  // cut-through frames that wait for their tail, soonest last
  Instant refresh_due_ = Instant::never();
  bool any_mark_at_dequeue_ = false;
  bool any_credits_ = false;     // a port has credit-based flow control
  bool watches_ = false;         // anybody has an eye on a queue (watched_), or in-band telemetry is recorded
  std::uint32_t strangers_ = 0;  // connected ports whose peer's address is not known yet

  std::vector<TrustMap> trust_maps_;        // each different one once
  std::vector<DropCounters> drops_by_class_;  // by port and class; one port more: what the switch itself sends
  std::vector<DropCounters> rdma_drops_by_class_;  // of these, frames of RoCEv2 and UET
  std::vector<DropCounters> drops_by_port_;   // before a frame had a class
  std::vector<Instant> asked_;              // when a port last asked for its peer's address
  std::vector<Arrival> awaiting_;           // frames for peers that have been asked
  Instant icmp_error_due_{};
  std::vector<Counter> rx_control_;
  std::vector<std::uint32_t> telemetry_rates_;  // by port, as HopTelemetry has them
  std::vector<Counter> misclassified_;  // by port: frames that a fault has put into a class not theirs
  Counter generated_;
  Counter consumed_;

  std::vector<DropLaw> drop_laws_;  // by port and class; empty: no queue has early drops of its own

  // Of each queue, what few frames touch.
  struct QueueHistory {
    Counter trimmed;
    Counter came_marked;
    Counter storms_detected;
    Counter storms_restored;
    Instant first_ce = Instant::never();
    Instant first_xoff = Instant::never();
  };
  std::vector<QueueHistory> history_;     // by port and class
  std::vector<PfcWatchdog> watchdogs_;    // by port and class; none if there is no watchdog
  Instant watchdog_due_ = Instant::never();

  // Groups that are to have less headroom, not before an instant and not while they use more.
  struct LessHeadroom {
    std::size_t group;
    Bytes headroom;
    Instant from;
  };
  std::vector<LessHeadroom> less_headroom_;
  Instant quality_due_ = Instant::never();  // something is to be reported
  struct QualityReports {
    bool due = false;  // as soon as the port is idle
    Counter sent;
    Counter heard;
  };
  std::vector<QualityReports> quality_reports_;  // by port
  std::unique_ptr<Bfd> bfd_;  // nullptr: no port has it
  Instant settles_at_ = Instant::never();  // when settle_headroom() is called next

  // Who speaks for the switch at a port, from outside.
  struct ControlPort {
    std::unique_ptr<Attachment> speaker;
    std::deque<Packet*> to_speaker;
    std::deque<Packet*> from_speaker;
  };
  std::vector<ControlPort> control_;    // by port; empty: the switch speaks for itself
  std::vector<wire::IpAddress> local_;  // of the speaker, sorted
};

}  // namespace railyard
