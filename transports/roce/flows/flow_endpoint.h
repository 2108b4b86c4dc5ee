// A RoCE NIC that flows of messages begin or end at: it posts work requests, takes their completions at the instant at
// which they happen, and checks what has come. Nothing here depends on when it is asked. Ranks of collectives may be at
// the same NIC (collectives/roce_rank.h): they share its engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/flow_counters.h"
#include "dataplane/base/flow_listener.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/state_archive.h"
#include "transports/base/recent_numbers.h"
#include "transports/collectives/rank_host.h"
#include "transports/roce/collectives/roce_rank.h"
#include "transports/roce/flows/flow_config.h"
#include "transports/roce/qp_counters.h"
#include "transports/roce/roce_endpoint.h"

namespace railyard::roce {

// What became of the messages of a flow, where they were asked for.
struct MessageCounters {
  std::uint64_t posted = 0;
  std::uint64_t completed = 0;           // without an error
  std::uint64_t octets = 0;              // of those
  std::uint64_t errors = 0;              // completions with an error, flushed ones included
  WcStatus status = WcStatus::kSuccess;  // of the first of them
  Instant failed_at = Instant::never();
  Instant last_error{};  // when the last one with an error completed
  Instant last{};        // when the last one completed
  Histogram latency;     // ps from post to completion

  // All of it, to or from another process.
  void exchange(StateArchive& archive) {
    archive(posted, completed, octets, errors, status, failed_at, last_error, last, latency);
  }
};

class FlowEndpoint final : public Endpoint, public RankHost {
 public:
  // `completions`: the most that can wait at once: of all flows `outstanding` where they are asked for, and of SENDs
  // `receives` where they end, for each QP. `real_payload`: frames carry octets, and sinks have memory.
  FlowEndpoint(EngineConfig config, bool real_payload, std::size_t completions);
  ~FlowEndpoint() override;

  const Engine& engine() const noexcept { return roce_.engine(); }

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool has_real_payload() const noexcept override { return roce_.has_real_payload(); }
  void expect_frame(std::uint32_t queue_pair, bool payload) const noexcept override;
  void expect_send() const noexcept override { engine().expect_send(); }

  // Its QPs are CollectiveConnection's to make.
  RoceRank& add_rank(const CollectiveConfig& config, RankProgram program);
  // Connections of a rank at another NIC of this host go through this one, too, as far as it is told
  // (RoceRank::add_nic, whose number is returned). Both are in one ScaleUp.
  std::uint32_t carry_for(RoceRank& rank);

  // Nothing of flows is posted, and no collective started, at or after `at`.
  void stop_at(Instant at);
  // Flow `i` keeps to `rate` (0: no limit) from `now` on, if its source is here. The NIC must be told
  // (Host::endpoint_changed).
  void set_rate(Instant now, std::size_t i, BitRate rate);

  // Flow `i`, whose QPs are connected and which has not begun by itself, begins now. The NIC must be told.
  void start(Instant now, std::size_t i);
  // `listener` is told when this end of flow `i`, which has an end, is done: where it is asked for, when all its
  // messages are complete; at the sink, when all of it has come whole.
  void tell(std::size_t i, FlowListener& listener, std::uint32_t token);
  // Whether all messages that flow `i` asks for here, and has or will have asked for, are complete.
  bool done(Instant now, std::size_t i) const noexcept;

  // From now on it counts how long packets with payload take that are not of flows: those of ranks.
  void time_ranks() noexcept { times_ranks_ = true; }
  const Histogram& rank_latency() const noexcept { return rank_latency_; }  // ps, as RxFlowCounters::latency

  std::size_t flows() const noexcept { return flows_.size(); }
  const FlowConfig& config(std::size_t i) const noexcept { return flows_[i].config; }
  QpType qp_type(std::size_t i) const noexcept { return flows_[i].qp_type; }
  const RxFlowCounters& received(std::size_t i) const noexcept {
    flows_[i].latencies.flush(flows_[i].received.latency);
    return flows_[i].received;
  }
  const MessageCounters& messages(std::size_t i) const noexcept { return flows_[i].messages; }
  // Messages that have come whole, and were what they should be.
  std::uint64_t verified(std::size_t i) const noexcept { return flows_[i].verified; }
  // Of this end's QPs together.
  QpCounters counters(std::size_t i) const noexcept;
  TxFlowCounters sent(std::size_t i) const noexcept;

  // What is counted of its flows and ranks' packets, and when flows began: told by the process that runs it, taken by
  // others.
  void exchange_figures(StateArchive& archive);

 private:
  friend class FlowConnection;

  // Latencies that no histogram has yet: each falls into another line of it, and three of these are fetched at once
  // sooner than one after the other.
  class Latencies {
   public:
    void record(Histogram& histogram, std::uint64_t ps) noexcept {
      if (ps > std::numeric_limits<std::uint32_t>::max()) return histogram.record(ps);
      ps_[waiting_++] = static_cast<std::uint32_t>(ps);
      if (waiting_ == ps_.size()) flush(histogram);
    }
    void flush(Histogram& histogram) noexcept {
      for (std::uint32_t i = 0; i < waiting_; ++i) histogram.prefetch(ps_[i]);
      for (std::uint32_t i = 0; i < waiting_; ++i) histogram.record(ps_[i]);
      waiting_ = 0;
    }

   private:
    std::uint32_t waiting_ = 0;
    std::array<std::uint32_t, 3> ps_;
  };

  // What each packet touches is in lines of its own, in both of these.
  struct Flow {
    bool is_source = false;
    bool watched = false;  // there is a listener, and it has not been told
    QpType qp_type = QpType::kRc;
    FlowConfig config;
    std::vector<std::uint32_t> lanes;
    FlowListener* listener = nullptr;
    std::uint32_t token = 0;
    alignas(64) mutable Latencies latencies;
    mutable RxFlowCounters received;  // all but what waits there
    alignas(64) MessageCounters messages;
    std::uint64_t verified = 0;
    std::optional<QpCounters> told;  // of its QPs, by the process that runs it
  };
  // One QP of a flow, this end.
  struct Lane {
    alignas(64) std::uint32_t flow = 0;
    std::uint32_t q = 0;  // which of the flow's
    QpNumber qp;
    // At the sink: octets of the next message, and whole ones.
    std::uint32_t octets = 0;
    std::uint64_t whole = 0;
    // With selective repeat, by slot: messages may overtake each other.
    struct Slot {
      std::uint64_t message = 0;  // of the QP, that comes or will come there
      std::uint32_t octets = 0;   // of it that have come
      bool intact = true;
    };
    std::vector<Slot> slots;  // empty: they come in order
    std::vector<std::byte> memory;
    // The sink's slots for messages, or the source's stream: where it is asked for, both ends'.
    std::uint64_t own_address = 0;
    std::uint32_t own_key = 0;
    std::uint64_t peer_address = 0;
    std::uint32_t peer_key = 0;
    std::uint64_t messages = 0;  // it has in all
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    RingQueue<Instant> posted_at;  // of those in between
    bool failed = false;
    bool intact = true;         // the next message at the sink, so far
    Psn first_psn{};            // UC: of the first message, ...
    std::uint64_t packets = 0;  // ... and how many packets, come or lost, there were from it to the last that came
    std::unique_ptr<RecentNumbers> come;  // UC, sink: messages that came whole
    std::uint64_t received = 0;           // SEND: receive requests that were posted
  };
  // What a packet says of itself: of which message of its QP it is, and how many octets of that are before it.
  struct Claim {
    std::uint64_t message;
    std::uint64_t before;
  };
  struct Due {
    Instant at;
    std::uint32_t lane;
    bool starts;  // else a receive request is posted again
    bool operator>(const Due& o) const noexcept {
      return at != o.at ? at > o.at : lane != o.lane ? lane > o.lane : starts > o.starts;
    }
  };

  void tell_if_done(Instant now, Flow& flow);
  void run_other() override;
  void push_due(const Due& due);
  void post(Instant now, Lane& lane);
  void post_receive(Instant now, Lane& lane);
  // Whether there were any.
  bool take_completions(Instant now);
  bool take_flow_completions(Instant now);
  void on_completion(Instant now, const Completion& completion);
  void receive_one(const RxFrame& frame);
  Lane* lane_of(std::uint32_t qpn) noexcept {
    const Found& last = found_[qpn % std::size(found_)];
    return last.qpn == qpn && last.lane != nullptr ? last.lane : look_up(qpn);
  }
  Lane* look_up(std::uint32_t qpn) noexcept;
  void on_data(Lane& lane, const RxFrame& frame, const InPacket& in, std::optional<Drop> drop);
  void take_data(Lane& lane, Flow& flow, const InPacket& in);
  void take_of_uc(Lane& lane, Flow& flow, const InPacket& in);
  void take_in_any_order(Lane& lane, Flow& flow, const InPacket& in);
  std::optional<Claim> claim_of(const Lane& lane, const Flow& flow, const InPacket& in) const noexcept;
  void check_read(Lane& lane, Flow& flow);

  // What every packet touches comes first.
  std::uint32_t first_qpn_;
  CqId cq_{};
  bool has_unanswered_ = false;             // flows over UC
  CompletionQueue* completions_ = nullptr;  // of that name
  // What packets were for last; forgotten when a flow or lane comes or goes.
  struct Found {
    std::uint32_t qpn = 0;
    Lane* lane = nullptr;
    Flow* flow = nullptr;
  };
  std::array<Found, 4> found_{};
  std::vector<Flow> flows_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> lane_by_qp_;  // index + 1, by QP number - first_qpn_
  RoceEndpoint roce_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::deque<RoceRank> ranks_;
  std::vector<RoceRank*> carried_;  // ranks at other NICs
  bool times_ranks_ = false;
  Histogram rank_latency_;
};

}  // namespace railyard::roce
