// One rank of a collective operation over verbs: as CollectiveRank does it behind a built-in NIC, a step when its
// data are complete here, RDMA WRITE with immediate data that name the receiver's step and whether its repeat is an odd
// one, an empty message (a credit) to whoever may send for the repeat after the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/agent_protocol/messages.h"
#include "dataplane/base/time.h"
#include "tools/agent/verbs.h"
#include "transports/collectives/real_data.h"

namespace railyard::agent {

// Time is the host's, from anywhere on.
class AgentRank {
 public:
  // Takes memory and QPs. Throws VerbsError, std::bad_alloc.
  AgentRank(Verbs& verbs, agents::Prepare what);

  const agents::RankId& id() const noexcept { return what_.id; }
  const agents::Prepared& prepared() const noexcept { return prepared_; }

  // Brings the QPs to RTS. Throws VerbsError; agents::ProtocolError if there are more or fewer peers than QPs.
  void connect(const std::vector<agents::QpPeer>& peers);
  // The first repeat starts. connect() was called. Throws VerbsError, as work() does.
  void go(Instant now);

  // Takes what is complete and goes on from there. True: there was something.
  bool work(Instant now);
  // When it wants work() to be called although nothing completes.
  Instant next_due() const noexcept { return std::min(start_at_, compute_until_); }
  int ready_fd() const { return verbs_->ready_fd(); }

  bool complete() const noexcept { return repeat_ == what_.repeats; }
  bool failed() const noexcept { return !failure_.empty(); }
  // So far.
  agents::RankResult result(Verbs& verbs) const;

 private:
  enum class State : std::uint8_t { kWaiting, kPosted, kDone };
  struct Peer {
    agents::QpPeer end{};
    std::uint32_t allowed = 2;  // repeats of which messages may go there
    std::uint32_t credits_owed = 0;
    std::uint32_t credits_out = 0;  // posted and not complete
    std::vector<std::uint32_t> blocked{};  // sends that wait for a credit
  };
  struct Arrival {
    std::uint32_t repeat;
    std::uint32_t step;
  };

  std::uint32_t copies() const noexcept { return what_.repeats > 1 ? 2 : 1; }
  std::uint64_t stride() const noexcept { return program().data_octets + program().staging_octets; }
  const RankProgram& program() const noexcept { return what_.program; }

  void begin(Instant now);
  void take_early(Instant now);
  void finish(Instant now);
  void start(Instant now, std::uint32_t step);
  void send(Instant now, std::uint32_t step);
  void done(Instant now, std::uint32_t step);
  void take(Instant now, std::uint32_t step);
  void on_completion(Instant now, const WorkCompletion& completion);
  void on_message(Instant now, std::uint32_t connection, const WorkCompletion& completion);
  void post_credits(std::uint32_t connection);

  agents::Prepare what_;
  RealData data_;
  std::unique_ptr<RankVerbs> verbs_;
  agents::Prepared prepared_;
  std::map<std::string, std::uint64_t> counters_before_;
  std::vector<Peer> peers_;  // by connection

  std::uint32_t repeat_ = 0;  // the one that goes on, or will be started next
  bool running_ = false;
  bool going_ = false;
  Instant zero_{};
  Instant start_at_ = Instant::never();
  Instant compute_until_ = Instant::never();
  std::uint32_t computing_ = 0;  // the step
  Duration computed_{};
  std::vector<State> states_;
  std::vector<std::uint32_t> waits_;
  std::vector<Instant> posted_at_;
  std::size_t left_ = 0;           // steps that are not done
  std::size_t receives_left_ = 0;  // of them
  std::deque<Arrival> early_;

  std::vector<agents::RankResult::Repeat> repeats_;
  std::vector<std::uint32_t> send_tenths_;  // from post to completion of messages, in tenths of a microsecond
  WrongData wrong_;
  std::uint64_t wrong_messages_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t octets_ = 0;
  std::string failure_;
};

}  // namespace railyard::agent
