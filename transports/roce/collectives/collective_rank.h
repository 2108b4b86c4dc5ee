// One rank of a collective operation behind a NIC: it carries its program out over RC QPs, RDMA WRITE with immediate
// data, a step at the instant at which its data are complete here. The immediate data name the receiver's step.
//
// Repeats. A rank begins the next repeat when all its steps of one are done, its sends acknowledged. It has room for
// two at a time, so a peer may be one ahead; to whoever sends to it a rank says by an empty message (a credit) that it
// is done with repeat k, and only then does anything of k + 2 come.
//
// Ranks of one host with a scale-up network (scale_up.h) exchange messages and credits over that, and have no QPs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dataplane/base/ring_queue.h"
#include "transports/base/rank_program.h"
#include "transports/roce/collectives/collective_config.h"
#include "transports/roce/collectives/contributors.h"
#include "transports/roce/collectives/real_data.h"
#include "transports/roce/collectives/scale_up.h"
#include "transports/roce/engine.h"

namespace railyard::roce {

enum class StepState : std::uint8_t { kWaiting, kPosted, kDone };

class CollectiveRank {
 public:
  // `real_payload`: it has memory, and octets are compared; else contributors are.
  CollectiveRank(Engine& engine, const CollectiveConfig& config, RankProgram program, bool real_payload);

  // When it wants to be called by itself; and that, once it is due.
  Instant next_due() const noexcept;
  void run_due();
  // Whether there were any.
  bool take_completions(Instant now);
  // A message of another rank of this host has come whole; and one of this rank's is where it was sent.
  void on_scale_up(Instant now, const ScaleUp::Message& message);
  void on_scale_up_sent(Instant now, std::uint32_t step) { done(now, step); }
  // No repeat is started at or after `at`.
  void stop_at(Instant at) noexcept { config_.stop = std::min(config_.stop, at); }

  const CollectiveConfig& config() const noexcept { return config_; }
  const RankProgram& program() const noexcept { return program_; }
  // Of each repeat that was started: when; and when its result was there, never() if it is not.
  const std::vector<Instant>& started() const noexcept { return started_; }
  const std::vector<Instant>& finished() const noexcept { return finished_; }
  // All repeats are done, the last send acknowledged.
  bool complete() const noexcept { return repeat_ == config_.repeats; }
  std::uint32_t repeat() const noexcept { return repeat_; }
  bool running() const noexcept { return running_; }
  StepState state(std::uint32_t step) const noexcept { return states_[step]; }

  const WrongData& wrong() const noexcept { return wrong_; }
  std::uint64_t wrong_messages() const noexcept { return wrong_messages_; }  // not what their sender was to send
  std::uint64_t messages() const noexcept { return messages_; }              // received
  std::uint64_t octets() const noexcept { return octets_; }                  // of payload, each once
  Duration computed() const noexcept { return computed_; }                   // over all repeats
  QpCounters counters() const noexcept;

  // Of what it has sent over its host's scale-up network. Nothing: no rank of its host is its peer.
  const std::optional<ScaleUpCounters>& scale_up() const noexcept { return scale_up_; }

  // The first QP that failed.
  struct Failure {
    std::uint32_t connection = 0;
    WcStatus status = WcStatus::kSuccess;
    Instant at{};
  };
  const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  friend class CollectiveConnection;

  struct Peer {
    QpNumber qp{};
    std::uint32_t key = 0;     // of its memory
    std::uint64_t stride = 0;  // of its memory, from one repeat's to the other's
    std::uint32_t allowed = 2;  // repeats of which messages may go there
    std::uint32_t credits_owed = 0;
    bool failed = false;
    CollectiveRank* in_host = nullptr;   // over the scale-up network: the peer itself, and no QP
    std::vector<std::uint32_t> blocked;  // sends that wait for a credit
  };
  // A message that has come, perhaps before its repeat was begun here.
  struct Arrival {
    std::uint32_t repeat;
    std::uint32_t step;
    std::uint64_t sum;  // elided payload: of its contributors
  };
  struct Reduction {
    Instant at;  // when it is done
    Arrival what;
  };

  std::uint64_t stride() const noexcept { return program_.data_octets + program_.staging_octets; }
  std::uint32_t copies() const noexcept { return config_.repeats > 1 ? 2 : 1; }
  std::uint64_t name_of(std::uint64_t identity, std::uint32_t repeat) const noexcept;

  void begin(Instant now);
  void on_completion(Instant now, const Completion& completion);
  void on_message(Instant now, const Completion& completion);
  bool is_expected(const Arrival& arrival, std::uint32_t connection) const noexcept;
  void arrived(Instant now, const Arrival& arrival);
  void take(Instant now, const Arrival& arrival);
  void apply(Instant now, const Arrival& arrival);
  void done(Instant now, std::uint32_t step);
  void finish(Instant now);
  void start(Instant now, std::uint32_t step);
  void send(Instant now, std::uint32_t step);
  void post(Instant now, std::uint32_t step);
  void post_in_host(Instant now, std::uint32_t step);
  void post_receive(Instant now, std::uint32_t connection);
  void post_credits(Instant now, Peer& peer);
  Sge source_of(const CollectiveStep& step);
  std::uint64_t sum_of(const CollectiveStep& send) const noexcept;
  std::byte* place_of(std::uint64_t offset, std::uint32_t repeat) noexcept;

  Engine& engine_;
  CollectiveConfig config_;
  RankProgram program_;
  CqId cq_;
  std::vector<Peer> peers_;  // by connection
  std::uint32_t memory_key_ = 0;
  std::optional<RealData> real_;
  Contributors contributors_;
  std::vector<std::uint64_t> relayed_;  // elided payload, by step: of what is to be passed on
  std::map<std::uint64_t, std::uint32_t> promise_keys_;  // by sum: a region of octets that are named so

  std::uint32_t repeat_ = 0;  // the one that goes on, or will be started next
  bool running_ = false;
  Instant start_at_;
  std::vector<StepState> states_;
  std::vector<std::uint32_t> waits_;
  std::size_t left_ = 0;           // steps that are not done
  std::size_t receives_left_ = 0;  // of them
  std::vector<Arrival> early_;
  RingQueue<Reduction> reductions_;
  Instant reducing_until_{};
  Instant computed_at_ = Instant::never();  // when the rank will have computed ...
  std::uint32_t computing_ = 0;             // ... this step
  Duration computed_{};

  std::vector<Instant> started_;
  std::vector<Instant> finished_;
  WrongData wrong_;
  std::uint64_t wrong_messages_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t octets_ = 0;
  std::optional<Failure> failure_;
  ScaleUp* pipe_ = nullptr;
  std::uint32_t place_in_host_ = 0;
  std::optional<ScaleUpCounters> scale_up_;
};

}  // namespace railyard::roce
