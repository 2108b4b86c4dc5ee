// Traffic without a transport: flows of RoCEv2-shaped frames that are sent at a rate, as fast as the link takes them,
// or in bursts, and measured where they arrive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/flow_counters.h"
#include "dataplane/base/flow_listener.h"
#include "dataplane/base/framing.h"
#include "dataplane/base/gap_jitter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/nic/sequence_check.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

// One flow, as its sender sees it.
struct TxFlowConfig {
  std::uint64_t id = 0;  // of the whole run: names the payload stream
  wire::MacAddress source_mac;
  wire::MacAddress next_hop_mac;
  wire::IpAddress source;  // both of one family
  wire::IpAddress destination;
  std::uint16_t source_port = 0xC000;  // entropy for ECMP
  std::uint32_t destination_qp = 0;    // how the receiver knows the flow; 24 bits
  std::uint8_t dscp = 26;
  bool ect = true;                  // ECT(0), else Not-ECT
  Priority priority{3};             // class at the NIC
  FrameTag tag{};                   // the 802.1Q tag of its frames; `framing` must have its octets, if it has one
  std::uint32_t payload = 4096;     // octets per frame, a multiple of 4
  BitRate rate{};                   // on the wire with preamble and gap; 0: as fast as the link takes them
  Framing framing{};                // of the NIC's link, for `rate`
  Bytes total{};                    // of payload, a multiple of 4; 0: no end
  Instant start{};                  // never(): when it is told to (start())
  Instant stop = Instant::never();  // no frame is begun at or after this
  Duration on{};                    // with `off`: sends for `on`, rests for `off`, and so on; 0: always on
  Duration off{};
  std::uint32_t slower_ppb = 0;  // its NIC's clock, in billionths: gaps are so much longer
  std::uint64_t gap_jitter = 0;  // of all frames but the first, whose phase is `start`: as of GapJitter
  BitRate link{};                // of the NIC's port; 0: frames take no time there
  RngStream chance;
};

// The same flow, as its receiver sees it.
struct RxFlowConfig {
  std::uint64_t id = 0;
  std::uint32_t destination_qp = 0;
  std::uint32_t payload = 4096;
  Instant stop = Instant::never();  // as TxFlowConfig
};

// The endpoint of one NIC: sender of some flows, receiver of others. Frames are UC SEND Only with the flow's number as
// DestQP and a running PSN, so a capture shows them as RoCEv2; nothing answers them.
class TrafficGenerator final : public Endpoint {
 public:
  // `destination_qp`s of `receives` are distinct.
  TrafficGenerator(std::vector<TxFlowConfig> sends, const std::vector<RxFlowConfig>& receives);
  ~TrafficGenerator() override;

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool generates(std::uint32_t /*flow*/) const noexcept override { return true; }
  bool receive(std::span<const RxFrame> frames) override;

  // Ends all flows: nothing is begun at or after `at`.
  void stop_at(Instant at);

  // Flow `i` keeps to `rate` (0: as fast as the link takes them) from `now` on: its next frame comes one interval of
  // the new rate after the last. Its NIC must be told (Host::endpoint_changed).
  void set_rate(Instant now, std::size_t i, BitRate rate);

  // Flow `i`, which has not begun by itself, begins now. Its NIC must be told.
  void start(Instant now, std::size_t i);
  // `listener` is told when flow `i`, which has an end, has handed out its last frame; and when so many octets of the
  // flow that is called `id` have come here.
  void tell_sent(std::size_t i, FlowListener& listener, std::uint32_t token);
  void tell_received(std::uint64_t id, Bytes octets, FlowListener& listener, std::uint32_t token);

  // Whether it sends or receives any flow.
  bool has_flows() const noexcept;
  std::size_t tx_flows() const noexcept;
  const TxFlowConfig& tx_config(std::size_t i) const noexcept;
  const TxFlowCounters& tx_counters(std::size_t i) const noexcept;
  // When flow `i`, which has an end, handed out its last frame; never(): it has not.
  Instant all_sent(std::size_t i) const noexcept;
  // By id; nullptr if this NIC does not receive it.
  const RxFlowCounters* rx_counters(std::uint64_t id) const noexcept;
  // Frames for no flow that is expected here.
  std::uint64_t unexpected() const noexcept { return unexpected_; }

  // What is counted of its flows, and when they began: told by the process that runs it, taken by others.
  void exchange_figures(StateArchive& archive);

 private:
  struct TxFlow;
  struct RxFlow;
  struct Waiting {
    Instant due;
    std::uint32_t flow;
    bool operator>(const Waiting& o) const noexcept { return due != o.due ? due > o.due : flow > o.flow; }
  };

  void wake(Instant now);
  void emit(TxFlow& flow, TxFrame& frame, std::uint32_t index);
  // When the flow may send next, at or after `now`; Instant::never() if it is over.
  Instant due(const TxFlow& flow, Instant now) const noexcept;
  void receive_one(const RxFrame& frame);

  std::vector<TxFlow> tx_;
  std::vector<RxFlow> rx_;
  std::vector<std::uint32_t> rx_by_qp_;  // index into rx_ + 1, by DestQP - first_qp_
  std::uint32_t first_qp_ = 0;
  std::array<RingQueue<std::uint32_t>, kPriorities> active_;  // flows that may send now, in turn
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::uint64_t unexpected_ = 0;
};

}  // namespace railyard
