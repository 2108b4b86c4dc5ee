// A host: its NICs and what drives them, advanced as one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/drop_reason.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/base/slot_queue.h"
#include "dataplane/device/device.h"
#include "dataplane/device/drop_counters.h"
#include "dataplane/device/egress_port.h"
#include "dataplane/device/pause_state.h"
#include "dataplane/device/start_list.h"
#include "dataplane/device/attachment.h"
#include "dataplane/nic/host_config.h"
#include "dataplane/nic/receive_buffer.h"
#include "dataplane/nic/shared_bus.h"
#include "dataplane/packet/edge.h"

namespace railyard {

// What drives a NIC: an endpoint in modelled time, or a host outside; neither: the NIC only answers ping.
struct NicDriver {
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Attachment> attachment;
};

// Each NIC has per-class queues behind ETS, reacts to PFC and sends it when its receive buffer fills. Frames are taken
// from the endpoint when their class's queue is empty and the port is about to start something, a few at a time: what
// an endpoint decides is at most that old when it is on the wire. While the link is down they are taken as ever, at its
// rate, and dropped: a transport finds that nobody answers, whichever link of the path it is.
class Host final : public Device {
 public:
  // One driver per NIC. Throws std::invalid_argument.
  Host(DeviceId id, std::string name, HostConfig config, std::vector<NicDriver> drivers);
  ~Host() override;

  Duration data_latency() const noexcept override { return config_.latency; }
  Duration pause_response(BitRate rate) const noexcept override;

  Endpoint* endpoint(PortIndex port) noexcept { return nics_[port.index()].endpoint.get(); }
  Attachment* attachment(PortIndex port) noexcept { return nics_[port.index()].attachment.get(); }
  // Puts a host outside behind a NIC that no endpoint drives, or takes it away (nullptr), and returns what was there;
  // it has no packets any more. What waits for that is dropped as kHostGone. Only while the engine rests; at `now`, or
  // at done() if that is later.
  std::unique_ptr<Attachment> attach(Instant now, PortIndex port, std::unique_ptr<Attachment> attachment);
  // The NIC's own address becomes another. As a change (change_at).
  void set_mac(PortIndex port, wire::MacAddress mac) noexcept;

  // Has `endpoint` drive a NIC without a host outside from `now` on, and returns who did. As a change of this device at
  // `now` (change_at).
  std::unique_ptr<Endpoint> drive(Instant now, PortIndex port, std::unique_ptr<Endpoint> endpoint);

  void for_each_held(const std::function<void(const Packet&)>& see) const override;

  void use_credits(PortIndex port, const CreditConfig& sends, const CreditConfig& receives) override {
    nics_[port.index()].egress.use_credits(sends, receives);
  }

  void prefetch_parts() const noexcept override;
  void prefetch_contents() const noexcept override;
  void prefetch_rest() const noexcept override;

  // Wall clock only, between windows: exchanges packets with the outside. What has come in takes effect at `now`, or at
  // done() if that is later. Returns the new earliest instant.
  Instant poll(Instant now, Duration wall) override;
  void give_outside(Instant now) override;
  bool readable(std::vector<int>& descriptors) const override;
  bool polled() const noexcept override { return attached_; }
  const HostConfig& config() const noexcept { return config_; }

  // Faults (host_faults.cc), as changes. `fault` names who wants it so; the last one that began holds, and what is
  // configured when the last ends.
  // The host takes frames out of the receive buffer at `rate`; 0: not at all.
  void begin_receiving_at(Instant now, std::uint32_t fault, PortIndex port, BitRate rate);
  void end_receiving_at(Instant now, std::uint32_t fault, PortIndex port);
  // The endpoint of a NIC gives it frames at this share of the link's rate at most, one at a time.
  void begin_straggling(Instant now, std::uint32_t fault, PortIndex port, Share share);
  void end_straggling(Instant now, std::uint32_t fault, PortIndex port);
  struct ClockDrift {  // a clock gains so much (loses, if negative) of so much time
    std::int64_t gained = 0;
    std::int64_t of = 1;
  };
  // The clock of the time stamps is ahead by so much (behind, if negative), and drifts from now on. Several add up.
  void begin_skew(Instant now, std::uint32_t fault, Duration ahead, ClockDrift drift);
  void end_skew(std::uint32_t fault);
  void begin_mtu(std::uint32_t fault, PortIndex port, std::uint32_t mtu);
  void end_mtu(std::uint32_t fault, PortIndex port);
  void begin_pfc_storm(Instant now, std::uint32_t fault, PortIndex port, PriorityMask classes);
  void end_pfc_storm(Instant now, std::uint32_t fault, PortIndex port);
  void begin_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port);
  void end_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port);

  // Changes, to be called from change_at(): they take effect at the instant at which they run.
  void set_scheduling(PortIndex port, const std::array<ClassScheduling, kPriorities>& scheduling);
  void set_pfc(Instant now, PortIndex port, const PfcEnable& pfc);
  // What the endpoint said about being ready holds no longer: it is asked again.
  void endpoint_changed(Instant now, PortIndex port);

 protected:
  Instant run(Instant until) override;
  void connected(PortIndex port, Channel& out, BitRate rate) override;
  void on_link_down(Instant now, PortIndex port) override;
  void on_link_up(Instant now, PortIndex port) override;
  void on_new_rate(Instant now, PortIndex port, BitRate rate, Duration peer_response) override;
  void on_link_retry(PortIndex port, LinkRetry& retry) override { nics_[port.index()].egress.retry_through(retry); }
  void on_credits_lost(Instant at, PortIndex port, CreditStamp stamp) override {
    nics_[port.index()].egress.credit_lost(at, stamp);
  }
  void on_new_key_base() override;
  Instant class_paused_since(PortIndex port, Priority priority) const override {
    return nics_[port.index()].egress.held_since(priority, done());
  }
  QueueSample queue_sample(PortIndex port, Priority priority) const override {
    return nics_[port.index()].egress.sample(priority, done());
  }
  PortLook port_look(PortIndex port) const override { return nics_[port.index()].egress.look(done()); }
  void count_live(DeviceCounters& counters) const override;
  void count_rest(DeviceCounters& counters) const override;

 private:
  static constexpr std::size_t kTakeAtOnce = 8;
  static_assert(kTakeAtOnce <= WorkerContext::kBurst);
  // Frames of one class that an attached NIC holds before it stops taking those from its host: a few times what the longest
  // poll interval moves at line rate would cost memory, a burst costs rate.
  static constexpr std::size_t kAttachedQueue = 64;
  static constexpr std::size_t kGiveAtOnce = 32;
  static constexpr std::size_t kPrefetchAhead = 4;
  // Flows whose headers a NIC remembers; of more, those that share a place are parsed whenever they take turns.
  static constexpr std::size_t kKnownFlows = 16384;

  static constexpr std::uint16_t kOwnBus = 0xFFFF;

  // What NICs share (host_bus.cc).
  struct Bus {
    SharedBus sends, receives;
    Instant wake = Instant::never();    // when it carries the next frame that was received
    Instant offers = Instant::never();  // when it is free for the next frame to send
  };

  // What one class of a NIC has received.
  struct Received {
    Counter packets;
    Counter octets;
  };

  // Laid out by use: what every frame touches comes first.
  struct alignas(64) Nic {
    std::unique_ptr<Endpoint> endpoint;
    std::unique_ptr<Attachment> attachment;
    Readiness ready{0, Instant{}};  // what the endpoint last said; asked again when it may have changed
    // A straggling host: what it sends at, and when it may give the next frame (never: now).
    Instant gives_next = Instant::never();
    bool straggling = false;  // `straggles` or `bus` holds
    bool up = true;
    bool real_payload = false;
    bool tags = false;       // puts 802.1Q tags into what the endpoint leaves to it
    bool keeps_tags = true;  // of what comes in
    std::uint32_t largest_frame = 0;  // with tag and FCS
    std::uint64_t mac = 0;            // its own (wire::mac_word)
    const TrustMap* trust = nullptr;
    EgressPort egress;
    std::array<Received, kPriorities> received;
    ReceiveBuffer receive;
    Share straggles{0, 0};
    BitRate bus{};                        // NicConfig's
    std::uint16_t shared_bus = kOwnBus;   // of buses_
    std::uint8_t gave_last = 0;           // the class of which a straggling host gave the last frame
    RingQueue<Packet*> incoming;    // from the attachment, until their instant comes
    std::vector<Packet*> outgoing;  // for the attachment, until a burst is full or the next poll
    Instant incoming_at = Instant::never();
    AddressMemo addresses;  // of what came in last
    PauseState asked;       // what the host outside says about pausing: its own PFC frames
    Duration quantum{};     // 512 bit times of the link
    // Metadata of flows seen, by the low bits of TxFrame::flow, whose number stands in `stream`; frame_octets 0: none.
    std::vector<Packet> known_flows;
    Counter rx_control;
    DropCounters drops;
    std::array<DropCounters, kPriorities> class_drops;
    std::array<DropCounters, kPriorities> rdma_drops;  // of these, frames of RoCEv2 and UET
  };

  std::size_t receive_slot(PortIndex port) const noexcept { return ports() + port.index(); }
  std::size_t outside_slot(PortIndex port) const noexcept { return 2 * ports() + port.index(); }
  std::size_t timer_slot() const noexcept { return 3 * ports(); }
  std::size_t shared_slot() const noexcept { return timer_slot() + 1; }
  std::size_t bus_slot(std::size_t bus) const noexcept { return shared_slot() + 1 + bus; }
  static std::size_t slots_of(const HostConfig& config) noexcept;

  void on_mac_control(Instant now, PortIndex port, Packet* packet);
  void credits_changed(Instant now, PortIndex port, Priority priority);
  void on_credit_message(Instant now, PortIndex port, Packet* packet);
  Packet* make_credit_message(Instant now, PortIndex port, const wire::CreditMessage& message);
  std::size_t on_arrivals(Instant now, PortIndex port, std::size_t i, std::uint64_t limit);
  bool accept(Instant now, PortIndex port, Packet* packet);
  bool accept_observed(Instant now, PortIndex port, Priority priority, Packet* packet);
  bool accept(Instant now, PortIndex port, Priority priority, Packet* packet);
  void buffer(Instant now, PortIndex port, Packet* packet);
  void on_received(Instant now, PortIndex port);
  void on_outside(Instant now, PortIndex port);
  void on_asked(Instant now, PortIndex port);
  Instant buffer_timer(const Nic& nic) const noexcept;
  void give_outgoing(Instant now, PortIndex port, Nic& nic);
  void forget_outside(Instant now, PortIndex port, Nic& nic);
  void hold(Instant now, PortIndex port, Nic& nic, Packet* packet);
  PriorityMask have_room(const Nic& nic) const noexcept;
  void start_if_any(Instant now, PortIndex port, Nic& nic);
  void start_others(Instant now);
  void deliver(Nic& nic, std::span<const RxFrame> frames, std::span<Packet* const> packets);
  bool answer(Instant now, PortIndex port, Packet* packet);
  void on_transmit_end(Instant now, PortIndex port, bool more_now);
  void on_timer(Instant now, PortIndex slot);
  void start(Instant now, PortIndex port);
  void start_without_carrier(Instant now, PortIndex port);
  void take(Instant now, Nic& nic);
  void take(Instant now, Nic& nic, Priority priority);
  void take_in_turn(Instant now, Nic& nic, unsigned classes);
  void gave(Instant now, Nic& nic, Priority priority, std::uint32_t octets);
  bool has_turn(Instant now, Nic& nic);
  void carry_received(Instant now, std::size_t bus);
  void wake_bus(std::size_t bus, Instant at);
  void on_bus(Instant now, std::size_t slot);
  void take_ahead(Instant now, Nic& nic);
  PortIndex port_of(const Nic& nic) const noexcept {
    return PortIndex{static_cast<std::uint16_t>(&nic - nics_.data())};
  }
  static Duration time_to_give(const Nic& nic, std::uint32_t octets) noexcept;
  static Duration time_to_give_share(const Nic& nic, std::uint32_t octets) noexcept;
  bool finish(Nic& nic, Priority priority, Packet& packet, const TxFrame& frame);
  static const Packet* known_flow(const Nic& nic, std::uint32_t flow) noexcept;
  static void remember_flow(Nic& nic, std::uint32_t flow, const Packet& packet);
  void put_tag(const Nic& nic, Priority priority, FrameTag tag, Packet& packet) noexcept;
  void put_telemetry(const Nic& nic, const PathTelemetry& telemetry, Packet& packet) noexcept;
  void use_endpoint(PortIndex port);
  Packet* take_control(Instant now, Nic& nic);
  void enqueue(Nic& nic, Priority priority, Packet* packet);
  struct Faulty;
  Faulty& faulty();
  void use_receive_rate(Instant now, PortIndex port);
  void use_share(Instant now, PortIndex port);
  void use_config(PortIndex port) noexcept;
  void use_mtu(PortIndex port);
  void use_skew();
  Duration skew(Instant now) const noexcept {
    if (drifts_) [[unlikely]]
      return skew_and_drift(now);
    return skew_;
  }
  Duration skew_and_drift(Instant now) const noexcept;
  void use_pfc_storm(Instant now, PortIndex port);
  void use_pauses(Instant now, PortIndex port);
  void signal_pause(Instant now, PortIndex port, Priority priority);
  void signal_pauses(Instant now, PortIndex port);
  void drop(Instant now, PortIndex port, Packet* packet, DropReason reason);
  void set_refresh(Instant due);
  void set_timer(std::size_t slot, Instant at);
  void look_at_shared();
  void set_transmission(PortIndex port);
  bool all_busy() const noexcept;

  std::vector<Nic> nics_;
  std::vector<Bus> buses_;
  // Of each port: transmission; receive buffer, or the end of a pause that the host outside asked for; what came from
  // outside. Then the refresh of pauses, what is due of what hosts share, and of each shared bus receiving, then sending.
  SlotQueue slots_;
  StartList starts_;
  Instant refresh_due_ = Instant::never();
  const bool* others_changed_ = nullptr;  // HostConfig::others_changed
  SharedWork* shared_ = nullptr;          // HostConfig::shared
  Instant shared_due_ = Instant::never();
  Counter generated_;
  Counter consumed_;
  bool attached_ = false;
  Duration skew_{};      // of the clock of time stamps
  bool drifts_ = false;  // and more with time
  HostConfig config_;
  std::shared_ptr<Faulty> faulty_;  // what faults have put in the place of what is configured; nothing: none ever did
};

}  // namespace railyard
