// A UET NIC that flows of messages begin or end at: it posts work requests, takes their completions at the instant at
// which they happen, and checks what has come. Nothing here depends on when it is asked. Ranks of collectives may be at
// the same NIC (collectives/uet_rank.h): they share its engine, and are jobs of their own.
//
// A flow has `qps` lanes: at each NIC a context of its own (PIDonFEP and resource index) for each. WRITEs and SENDs say
// in their header_data which message they are, so that the sink knows it in whatever order they become whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/flow_counters.h"
#include "dataplane/base/flow_listener.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/state_archive.h"
#include "transports/collectives/rank_host.h"
#include "transports/uet/collectives/uet_rank.h"
#include "transports/uet/flows/flow_config.h"
#include "transports/uet/flows/numbers_done.h"
#include "transports/uet/uet_endpoint.h"

namespace railyard::uet {

// Of the contexts of flows. Collectives have those above.
inline constexpr std::uint32_t kFlowsJob = 1;

// What became of the messages of a flow, where they were asked for.
struct MessageCounters {
  std::uint64_t posted = 0;
  std::uint64_t completed = 0;        // without an error; of UUD: sent
  std::uint64_t octets = 0;           // of those
  std::uint64_t errors = 0;           // completions with an error
  Status status = Status::kSuccess;   // of the first of them
  ReturnCode code = ReturnCode::kOk;  // with kRefused
  Instant failed_at = Instant::never();
  Instant last_error{};  // when the last one with an error completed
  Instant last{};        // when the last one completed
  Histogram latency;     // ps from post to completion

  // All of it, to or from another process.
  void exchange(StateArchive& archive) {
    archive(posted, completed, octets, errors, status, code, failed_at, last_error, last, latency);
  }
};

// Packets with payload that one end of a flow has sent.
struct FlowPackets {
  std::uint64_t packets = 0;  // retransmissions count again
  std::uint64_t octets = 0;
  std::uint64_t retransmitted = 0;
  Instant first = Instant::never();
};

class FlowEndpoint final : public Endpoint, public RankHost {
 public:
  // `completions`: the most that can wait at once: of all flows `outstanding` where they are asked for, and as many
  // where they end. `real_payload`: frames carry octets, and sinks have memory. Contexts of lanes have resource indices
  // from `first_resource_index` on, below 4096.
  FlowEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
               bool real_payload, std::size_t completions, std::uint16_t first_resource_index = 0);
  ~FlowEndpoint() override;

  const Engine& engine() const noexcept { return uet_.engine(); }
  Engine& engine() noexcept { return uet_.engine(); }
  // Encrypts and decrypts its packets; before the first one.
  void secure(const SecurityConfig& config) { uet_.secure(config); }

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool has_real_payload() const noexcept override { return uet_.has_real_payload(); }
  bool takes_everything() const noexcept override { return uet_.takes_everything(); }

  // connect_ranks() makes it known to its peers. Its job's number is above kFlowsJob, and no other rank's here.
  UetRank& add_rank(const CollectiveConfig& config, RankProgram program, const RankJob& job);
  // Connections of a rank at another NIC of this host go through this one, too, as far as it is told (UetRank::add_nic,
  // whose number is returned). Both are in one ScaleUp.
  std::uint32_t carry_for(UetRank& rank, std::uint8_t data_class);

  // Nothing of flows is posted at or after `at`.
  void stop_at(Instant at);
  // Flow `i` keeps to `rate` (0: no limit) from `now` on, if it is asked for here. The NIC must be told
  // (Host::endpoint_changed).
  void set_rate(Instant now, std::size_t i, BitRate rate);

  // Flow `i`, which has not begun by itself, begins now. The NIC must be told.
  void start(Instant now, std::size_t i);
  // `listener` is told when this end of flow `i`, which has an end, is done: where it is asked for, when all its
  // messages are complete; at the sink, when all of it has come whole.
  void tell(std::size_t i, FlowListener& listener, std::uint32_t token);

  // From now on it counts how long packets with payload take that are not of flows: those of ranks.
  void time_ranks() noexcept { times_ranks_ = true; }
  const Histogram& rank_latency() const noexcept { return rank_latency_; }  // ps, as RxFlowCounters::latency

  std::size_t flows() const noexcept { return flows_.size(); }
  const FlowConfig& config(std::size_t i) const noexcept { return flows_[i].config; }
  const RxFlowCounters& received(std::size_t i) const noexcept { return flows_[i].received; }
  const MessageCounters& messages(std::size_t i) const noexcept { return flows_[i].messages; }
  // Messages that have come whole, and were what they should be.
  std::uint64_t verified(std::size_t i) const noexcept { return flows_[i].verified; }
  const FlowPackets& packets(std::size_t i) const noexcept { return flows_[i].sent; }
  TxFlowCounters sent(std::size_t i) const noexcept {
    const FlowPackets& p = flows_[i].sent;
    return {p.packets, p.octets, p.first};
  }

  // What is counted of its flows and of the NIC, and when flows began: told by the process that runs it, taken by
  // others.
  void exchange_figures(StateArchive& archive);

 private:
  friend class FlowConnection;

  struct Flow {
    FlowConfig config;
    bool is_source = false;
    std::vector<std::uint32_t> lanes;
    RxFlowCounters received;
    MessageCounters messages;
    FlowPackets sent;
    std::uint64_t verified = 0;
    FlowListener* listener = nullptr;  // until it has been told
    std::uint32_t token = 0;
  };
  // One lane of a flow, this end. Its number is its PIDonFEP (high 12 bits) and resource index.
  struct Lane {
    std::uint32_t flow = 0;
    std::uint32_t q = 0;  // which of the flow's
    ContextId context{};
    MemoryRegions::Key own_key = 0;  // the sink's slots for messages, or the source's stream
    std::uint64_t own_address = 0;
    PeerId peer{};
    std::uint32_t peer_name = 0;  // of the peer's lane: name_of() there
    MemoryRegions::Key peer_key = 0;
    std::uint64_t messages = 0;  // it has in all
    // Where it is asked for.
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    struct Slot {
      std::uint64_t message = 0;  // of the lane, that is under way there
      Instant posted_at{};
      std::uint16_t tries = 0;   // READ: those before this one have come to nothing
      std::uint32_t octets = 0;  // that have come of this one,
      bool intact = true;        // and were right
    };
    std::vector<Slot> slots;
    std::vector<std::uint32_t> free;  // of them
    std::optional<std::uint8_t> pdc_lane{};
    std::uint8_t data_class = 0;
    Instant next_post{};  // RUDI and UUD with a rate
    GapJitter gaps;       // of posts at that rate
    bool waits = false;   // for that
    bool failed = false;
    // At the sink.
    NumbersDone whole;  // messages that have come
    // RUDI: the farthest offset that a packet of use came from; UUD: the last of the datagrams that have come, by
    // number.
    std::uint64_t farthest = 0;
    std::vector<std::byte> memory;
    // RUDI: WRITEs of which something has come.
    struct Partial {
      std::uint64_t message = 0;
      std::uint32_t octets = 0;
      bool intact = true;
      std::vector<bool> packets{};
    };
    std::vector<Partial> partial;
  };
  struct Due {
    Instant at;
    std::uint32_t lane;
    std::uint32_t slot;  // whose receive request is posted again; kStarts: messages may be posted
    bool operator>(const Due& o) const noexcept {
      return at != o.at ? at > o.at : lane != o.lane ? lane > o.lane : slot > o.slot;
    }
  };
  static constexpr std::uint32_t kStarts = ~std::uint32_t{0};
  static constexpr unsigned kSlotBits = 16;     // of a wr_id; the lane is above
  static constexpr unsigned kMessageBits = 48;  // of header_data; the sink's slot is above

  // What a lane's context is addressed by, PIDonFEP and 12 bits of resource index; and back, any number for a foreign
  // one.
  std::uint32_t name_of(std::uint32_t lane) const noexcept { return lane + first_resource_index_; }
  std::uint32_t lane_named(std::uint32_t name) const noexcept { return name - first_resource_index_; }

  void tell_if_done(Instant now, Flow& flow);
  void run_other() override;
  void push_due(const Due& due);
  void post(Instant now, std::uint32_t lane);
  void post_one(Instant now, Lane& lane, Flow& flow, std::uint64_t wr_id, std::uint32_t slot);
  void post_receive(Instant now, std::uint32_t lane, std::uint32_t slot);
  void take_pdc_lane(Instant now, Lane& lane, const Flow& flow);
  void give_pdc_lane(Lane& lane, const Flow& flow);
  // Maybe: without ranks it is known.
  bool has_completions() const noexcept {
    return engine().completions(cq_) != 0 || !ranks_.empty() || !carried_.empty();
  }
  // Whether there were any.
  bool take_completions(Instant now);
  bool take_flow_completions(Instant now);
  void close_if_done(Instant now);
  void on_completion(Instant now, const Completion& completion);
  void on_asked(Instant now, const Completion& completion);
  void note_order(Lane& lane, Flow& flow, std::uint64_t at) noexcept;
  void take_message(Instant now, Lane& lane, const Completion& completion, std::uint32_t slot);
  void check_read(Lane& lane, Flow& flow, const Lane::Slot& slot, std::uint32_t place);

  bool receive_one(const RxFrame& frame);
  // Which lane a packet with payload is of at its sink; its READ's slot.
  struct Of {
    Lane* lane = nullptr;
    std::optional<std::uint32_t> slot{};
    std::uint16_t tries = 0;  // of that READ, before this one
  };
  Of lane_of(const InPacket& in) noexcept;
  void note_contexts(UetRank& rank, std::uint32_t nic);
  void note_of_rank(const InPacket& in, bool early) noexcept;
  void on_data(const Of& of, const RxFrame& frame, const InPacket& in, std::optional<Drop> drop);
  void take_read(Lane& lane, Flow& flow, const Of& of, const InPacket& in);
  void take_idempotent(Instant now, Lane& lane, Flow& flow, const InPacket& in);
  void note_sent(Instant now, const OutPacket& out) noexcept;

  UetEndpoint uet_;
  OutPacket out_;               // of the packet in hand
  bool has_datagrams_ = false;  // flows over UUD
  bool times_ranks_ = false;
  Histogram rank_latency_;
  InPacket in_;
  CqId cq_;
  std::uint32_t first_resource_index_;
  std::vector<Flow> flows_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> lane_by_context_;            // index + 1
  std::vector<std::uint32_t> lane_by_key_;                // of sources' streams: index + 1, by the key's slot
  std::vector<std::vector<std::uint16_t>> lanes_in_use_;  // by peer: how many flows are on each SendWr::lane
  // Of flows that share a PDC, by peer and FlowConfig::connection: its lane, and how many of them use it.
  struct Shared {
    std::uint8_t lane = 0;
    std::uint32_t users = 0;
  };
  std::map<std::pair<std::size_t, std::uint32_t>, Shared> shared_;
  std::size_t asking_ = 0;  // lanes with messages that are posted, or to be posted, and not complete
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::deque<UetRank> ranks_;
  std::vector<UetRank*> carried_;          // ranks at other NICs
  std::vector<UetRank*> rank_by_context_;  // nullptr: a flow's
  Readiness told_{};                       // what ready() said last
};

}  // namespace railyard::uet
