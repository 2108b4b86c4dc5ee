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
#include "tools/agent/agent_task.h"
#include "tools/agent/verbs.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::agent {

class AgentRank final : public CollectiveRank, public AgentTask {
 public:
  // Takes memory and QPs. Throws VerbsError, std::bad_alloc.
  AgentRank(Verbs& verbs, agents::Prepare what);

  agents::TaskId id() const override { return what_.id; }
  const agents::Prepared& prepared() const noexcept override { return prepared_; }
  void connect(const agents::Connect& connect) override;
  // The first repeat starts.
  void go(Instant now) override;
  bool work(Instant now) override;
  Instant next_due() const noexcept override { return CollectiveRank::next_due(); }
  int ready_fd() const override { return verbs_->ready_fd(); }
  bool complete() const noexcept override { return CollectiveRank::complete(); }
  bool failed() const noexcept override { return !failure_.empty(); }
  nlohmann::json result(Verbs& verbs, std::string_view type, const std::string& failure) const override;
  std::string summary() const override;
  RankTraffic own_traffic() const noexcept override { return {}; }  // the device's counters say it

 private:
  struct Connection {
    agents::QpPeer end{};
    std::uint32_t credits_out = 0;  // posted and not complete
  };

  void post(Instant now, const Outgoing& message) override;
  bool post_credit(Instant now, std::uint32_t connection) override;
  void on_completion(Instant now, const WorkCompletion& completion);

  agents::Prepare what_;  // but for the program
  std::unique_ptr<RcVerbs> verbs_;
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
