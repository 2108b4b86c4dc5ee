// One rank of a collective operation behind a NIC: it carries its program out, a step at the instant at which its data
// are complete here. How its messages reach its peers is a carrier's, which is derived from it (roce/collectives/,
// uet/collectives/): a message is written into the peer's memory, and says which of the receiver's steps it is.
//
// Repeats. A rank begins the next repeat when all its steps of one are done, its sends acknowledged. It has room for
// two at a time, so a peer may be one ahead; to whoever sends to it a rank says by an empty message (a credit) that it
// is done with repeat k, and only then does anything of k + 2 come. Messages and credits may overtake each other.
//
// Ranks of one scale-up network (scale_up.h) exchange messages and credits over that, without a carrier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/assert.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/ring_queue.h"
#include "transports/base/memory_regions.h"
#include "transports/base/rank_program.h"
#include "transports/collectives/collective_config.h"
#include "transports/collectives/contributors.h"
#include "transports/collectives/rank_traffic.h"
#include "transports/collectives/real_data.h"
#include "transports/collectives/scale_up.h"
#include "transports/collectives/step_record.h"

namespace railyard {

// What a rank's memory is registered for, and its address: data and what comes to be added of one repeat; behind it
// those of the next.
inline constexpr ProtectionDomain kCollectiveDomain{2};
inline constexpr std::uint64_t kCollectiveMemory = std::uint64_t{1} << 32;

enum class StepState : std::uint8_t { kWaiting, kPosted, kDone };

class CollectiveRank {
 public:
  virtual ~CollectiveRank() = default;
  CollectiveRank(const CollectiveRank&) = delete;
  CollectiveRank& operator=(const CollectiveRank&) = delete;

  // When it wants to be called by itself; and that, one thing, which is due by `now`: it is done then.
  Instant next_due() const noexcept {
    RAILYARD_EXPENSIVE_ASSERT(next_due_ == find_next_due(), "what changes when something is due says so");
    return next_due_;
  }
  void run_due(Instant now);
  // The peer at the other end of `connection` is in this rank's scale-up network, whose part in this host is `pipe`: they
  // need no carrier. `port`: this rank's in it.
  void reach_in_host(std::uint32_t connection, CollectiveRank& peer, ScaleUp& pipe, std::uint32_t port);
  // So many ranks' worth of that network's rate it sends and takes in: a reducer, those of all ranks that it is for.
  std::uint32_t scale_up_share() const noexcept {
    if (!program_.reducer_latency) return 1;
    return static_cast<std::uint32_t>(std::ranges::count(program_.connections, true, &RankConnection::scale_up));
  }
  // A message of another rank of that network has come whole; and one of this rank's is where it was sent.
  void on_scale_up(Instant now, const ScaleUp::Message& message);
  // `first`: how long its first octet took, if send() could not say it.
  void on_scale_up_sent(Instant now, std::uint32_t step, std::optional<Duration> first = {}) {
    if (first) scale_up_->latency.record(static_cast<std::uint64_t>(first->ps));
    done(now, step);
  }
  // The first repeat is started then; instead of at what was configured. It has not been.
  void start_at(Instant at) noexcept {
    start_at_ = at;
    note_due();
  }
  // No repeat is started at or after `at`.
  void stop_at(Instant at) noexcept { config_.stop = std::min(config_.stop, at); }

  // Begins no repeat any more once `repeats` have been begun, until go_on(). Those that go on are finished.
  void hold_after(std::uint32_t repeats) noexcept { held_after_ = repeats; }
  // Is held no more, and `more` repeats are asked for than were. While all ranks of the collective rest, or all are held
  // after the same repeat. The caller sees to it that next_due() is looked at again.
  void go_on(Instant now, std::uint32_t more);

  // Sends nothing more, begins nothing more, and its memory is no longer registered. What other ranks of its host have
  // sent may still come.
  void retire() noexcept;

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
  // When its steps began and ended; nullptr: nobody asked (CollectiveConfig::recorded_steps).
  const StepRecord* record() const noexcept { return record_ ? &*record_ : nullptr; }
  // What its messages took of the network.
  RankTraffic traffic() const noexcept { return told_traffic_ ? *told_traffic_ : own_traffic(); }

  // How long its messages took from being handed to the carrier until they were acknowledged, ps. Not those within its
  // host.
  const Histogram& message_times() const noexcept { return message_times_; }

  // Of what it has sent over its host's scale-up network. Nothing: no rank of its host is its peer.
  const std::optional<ScaleUpCounters>& scale_up() const noexcept { return scale_up_; }

  // The first connection that failed.
  struct Failure {
    std::uint32_t connection = 0;
    std::string_view what;    // that failed: "QP"
    std::string_view status;  // in the words of the transport
    Instant at{};
  };
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  // What anybody may ask of it while the engine rests: told by the process that runs it, taken by others.
  void exchange_figures(StateArchive& archive);

 protected:
  // `memory`: of its NIC, where its data are registered. nullptr: nowhere, and source() is not to be used.
  // `real_payload`: it has memory, and octets are compared; else contributors are.
  CollectiveRank(MemoryRegions* memory, const CollectiveConfig& config, RankProgram program, bool real_payload);
  // Its data are registered at one more NIC of its host, for connections that go through it. Returns that NIC's number
  // for source() and memory_key(); 0 is the one of the constructor.
  std::uint32_t register_at(MemoryRegions& memory);

  // ---- What a carrier does ----
  // A message of one step, to be written into the peer's memory.
  struct Outgoing {
    std::uint32_t connection = 0;
    std::uint32_t step = 0;    // the sender's; on_sent() has it
    std::uint32_t peer_step = 0;
    std::uint32_t repeat = 0;
    std::uint64_t offset = 0;  // of its octets in this rank's memory of a repeat
    std::uint32_t octets = 0;
    std::uint64_t place = 0;   // where they go, in the peer's
  };
  // There is always room: no step is posted twice in a repeat.
  virtual void post(Instant now, const Outgoing& message) = 0;
  virtual RankTraffic own_traffic() const noexcept = 0;
  // An empty message. False: there is no room now; it is asked again after on_sent() of this connection.
  virtual bool post_credit(Instant now, std::uint32_t connection) = 0;

  // ---- What a carrier says ----
  // What was posted is acknowledged; kNoStep: it was a credit.
  static constexpr std::uint32_t kNoStep = ~std::uint32_t{0};
  void on_sent(Instant now, std::uint32_t connection, std::uint32_t step);
  void on_credit(Instant now, std::uint32_t connection);
  struct Incoming {
    std::uint32_t step = 0;
    std::uint32_t repeat = 0;
    std::uint32_t octets = 0;
    // Of a promise: all of it was one, from here on.
    bool intact = true;
    std::uint64_t stream = 0;
    std::uint64_t offset = 0;
  };
  // Its octets are where they belong.
  void on_message(Instant now, std::uint32_t connection, const Incoming& message);
  // Nobody's who is known, or broken.
  void on_stray() noexcept { ++wrong_messages_; }
  // Nothing more reaches this peer. `what`: that failed; both strings are literals.
  void on_failed(Instant now, std::uint32_t connection, std::string_view what, std::string_view status);

  // ---- What a carrier needs to know ----
  // Of the two that may come now, the odd or the even one.
  std::uint32_t repeat_of(bool odd) const noexcept { return odd == (repeat_ % 2 != 0) ? repeat_ : repeat_ + 1; }
  // The octets that a message is made of: registered memory, or a promise that says whose inputs they are.
  struct Source {
    std::uint64_t address = 0;
    MemoryRegions::Key key = 0;
  };
  Source source(const Outgoing& message, std::uint32_t nic = 0);
  MemoryRegions::Key memory_key(std::uint32_t nic = 0) const noexcept {
    return nic < registered_.size() ? registered_[nic].key : 0;
  }
  std::uint64_t stride() const noexcept { return program_.data_octets + program_.staging_octets; }
  std::uint32_t copies() const noexcept { return copies_; }
  // Where the memory of a repeat begins at somebody whose own is `stride` apart.
  std::uint64_t base(std::uint32_t repeat, std::uint64_t stride) const noexcept { return repeat % copies() * stride; }
  bool is_in_host(std::uint32_t connection) const noexcept { return peers_[connection].in_host != nullptr; }
  RealData* real() noexcept { return real_ ? &*real_ : nullptr; }

 private:
  struct Peer {
    std::uint32_t allowed = 2;  // repeats of which messages may go there
    std::uint32_t credits_owed = 0;
    bool failed = false;
    CollectiveRank* in_host = nullptr;   // over the scale-up network: the peer itself
    std::vector<std::uint32_t> blocked;  // sends that wait for a credit
  };
  // A message that has come, perhaps before its repeat was begun here.
  struct Arrival {
    std::uint32_t repeat;
    std::uint32_t step;
    std::uint64_t sum;  // elided payload: of its contributors
  };
  struct Later {
    Instant at;
    Arrival what;
  };
  // Of those whose fixed cost is over at one instant the one that came first is the first.
  struct Costing {
    Instant at;
    std::uint64_t number;
    Arrival what;
    bool operator>(const Costing& o) const noexcept { return at != o.at ? at > o.at : number > o.number; }
  };

  std::uint64_t name_of(std::uint64_t identity, std::uint32_t repeat) const noexcept;
  bool goes(const CollectiveStep& step) const noexcept { return program_.goes(step.occasion, repeat_); }

  Instant find_next_due() const noexcept {
    const Instant received = received_.empty() ? Instant::never() : received_.top().at;
    const Instant reduced = reductions_.empty() ? Instant::never() : reductions_.front().at;
    return std::min({start_at_, received, reduced, computed_at_});
  }
  // After any change of these four: every packet at this NIC asks for it.
  void note_due() noexcept { next_due_ = find_next_due(); }

  void begin(Instant now);
  void launch(Instant now);
  void owe_credits(Instant now);
  bool is_expected(const Arrival& arrival, std::uint32_t connection) const noexcept;
  void arrived(Instant now, const Arrival& arrival);
  void take(Instant now, const Arrival& arrival);
  void reduce(Instant now, const Arrival& arrival);
  void apply(Instant now, const Arrival& arrival);
  void done(Instant now, std::uint32_t step);
  void end(Instant now, std::uint32_t step);
  void compute(Instant now, std::uint32_t step);
  void finish(Instant now);
  void start(Instant now, std::uint32_t step);
  void send(Instant now, std::uint32_t step);
  void post_in_host(Instant now, std::uint32_t step);
  Duration time_in_host(std::uint32_t octets) const noexcept;
  void post_credits(Instant now, std::uint32_t connection);
  std::uint64_t sum_of(const CollectiveStep& send) const noexcept;
  std::byte* place_of(std::uint64_t offset, std::uint32_t repeat) noexcept;

  // At a NIC: its data, and elided payload by sum, a region of octets that are named so.
  struct Registered {
    MemoryRegions* memory;
    MemoryRegions::Key key = 0;
    std::map<std::uint64_t, MemoryRegions::Key> promise_keys{};
  };
  std::vector<Registered> registered_;
  CollectiveConfig config_;
  RankProgram program_;
  std::vector<Peer> peers_;  // by connection
  std::optional<RealData> real_;
  Contributors contributors_;
  std::vector<std::uint64_t> relayed_;  // elided payload, by step: of what is to be passed on

  std::uint32_t repeat_ = 0;  // the one that goes on, or will be started next
  bool running_ = false;
  bool launching_ = false;  // it runs, and until start_at_ nothing goes
  Instant start_at_;
  Instant next_due_;  // find_next_due()
  std::vector<StepState> states_;
  std::vector<Instant> posted_;  // of steps that send: when
  std::vector<std::uint32_t> waits_;
  std::size_t left_ = 0;           // steps that are not done
  std::size_t receives_left_ = 0;  // of them, steps of computing included: then its result is there
  std::vector<Arrival> early_;
  std::priority_queue<Costing, std::vector<Costing>, std::greater<>> received_;  // by when their fixed cost is over
  std::uint64_t taken_ = 0;
  RingQueue<Later> reductions_;  // by when they are added
  Instant reducing_until_{};
  // Steps of computing that go one after the other.
  struct Stream {
    Instant done_at = Instant::never();
    std::uint32_t step = 0;  // until then
    RingQueue<std::uint32_t> waiting{};
  };
  std::vector<Stream> streams_;
  Instant computed_at_ = Instant::never();  // the earliest of them
  std::vector<std::uint32_t> ended_;        // steps whose end is still to be told, at this instant
  bool ending_ = false;
  Duration computed_{};

  std::vector<Instant> started_;
  std::vector<Instant> finished_;
  Histogram message_times_;
  WrongData wrong_;
  std::uint64_t wrong_messages_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t octets_ = 0;
  std::optional<Failure> failure_;
  std::optional<RankTraffic> told_traffic_;  // by the process that runs it; and what its failure_ says
  std::string told_what_;
  std::string told_status_;
  ScaleUp* pipe_ = nullptr;
  std::uint32_t port_in_host_ = 0;
  std::optional<ScaleUpCounters> scale_up_;
  // Of its memory: fixed when it is registered. With one, a repeat is asked for when all ranks have done the last.
  std::uint32_t copies_;
  std::uint32_t held_after_ = ~std::uint32_t{0};
  std::optional<StepRecord> record_;
};

}  // namespace railyard
