// One rank of a collective operation over verbs, on the wire as those behind a built-in NIC are (RoceRank): RDMA WRITE
// with immediate data that name the receiver's step and whether its repeat is an odd one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/agent_protocol/messages.h"
#include "dataplane/base/time.h"
#include "tools/agent/verbs.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::agent {

// Time is the host's, from anywhere on.
class AgentRank final : public CollectiveRank {
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
  int ready_fd() const { return verbs_->ready_fd(); }

  bool failed() const noexcept { return !failure_.empty(); }
  // So far.
  agents::RankResult result(Verbs& verbs) const;
  RankTraffic traffic() const noexcept override { return {}; }  // the device's counters say it

 private:
  struct Connection {
    agents::QpPeer end{};
    std::uint32_t credits_out = 0;  // posted and not complete
  };

  void post(Instant now, const Outgoing& message) override;
  bool post_credit(Instant now, std::uint32_t connection) override;
  void on_completion(Instant now, const WorkCompletion& completion);

  agents::Prepare what_;  // but for the program
  std::unique_ptr<RankVerbs> verbs_;
  agents::Prepared prepared_;
  std::map<std::string, std::uint64_t> counters_before_;
  std::vector<Connection> connections_;
  bool going_ = false;
  Instant zero_{};
  std::vector<Instant> posted_at_;          // by step
  std::vector<std::uint32_t> send_tenths_;  // from post to completion of messages, in tenths of a microsecond
  std::string failure_;
};

}  // namespace railyard::agent
