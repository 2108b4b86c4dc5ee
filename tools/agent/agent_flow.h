// One end of a flow of messages over verbs, on the wire as one of a built-in NIC is (transports/roce/flows/): the same
// messages with the same octets, in the same places.
//
// An end that asks posts work requests, `outstanding` of each QP at a time. A sink looks at every octet of what it has
// asked for (READ) or is told of (SEND, announced WRITE); a sink of WRITEs that are not announced, and a source that is
// read, are asked nothing, and know nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/agent_protocol/messages.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/time.h"
#include "tools/agent/agent_task.h"
#include "tools/agent/verbs.h"

namespace railyard::agent {

class AgentFlow final : public AgentTask {
 public:
  // Takes memory and QPs. Throws VerbsError, std::bad_alloc.
  AgentFlow(Verbs& verbs, const agents::PrepareFlow& what);

  agents::TaskId id() const override { return what_.id; }
  const agents::Prepared& prepared() const noexcept override { return prepared_; }
  void connect(const agents::Connect& connect) override;
  void go(Instant now) override;
  void stop(Instant) override { stopped_ = true; }
  // A few completions at a time, so that their times are right.
  bool work(Instant now) override;
  int ready_fd() const override { return verbs_->ready_fd(); }
  bool complete() const noexcept override;
  bool failed() const noexcept override { return !status_.empty(); }
  bool tells_progress() const noexcept override { return true; }
  nlohmann::json result(Verbs& verbs, std::string_view type, const std::string& failure) const override;
  std::string summary() const override;

 private:
  // One QP.
  struct Lane {
    agents::QpPeer peer{};
    std::uint64_t messages = 0;  // it has in all
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::deque<Instant> posted_at{};  // of those in between
    std::uint64_t receives = 0;       // receive requests that were posted
    std::uint64_t received = 0;
  };

  const FlowConfig& config() const noexcept { return what_.config; }
  bool is_source() const noexcept { return !what_.id.sink; }
  bool asks() const noexcept { return config().asks(is_source()); }
  bool is_told() const noexcept { return !is_source() && config().receive_requests() > 0; }
  std::uint64_t place_of(std::uint32_t q, std::uint64_t message) const noexcept;
  void post(Instant now, std::uint32_t q);
  void post_receive(std::uint32_t q);
  void on_completion(Instant now, const WorkCompletion& completion);
  void on_received(std::uint32_t q, const WorkCompletion& completion);
  void verify(std::uint32_t q, std::uint64_t message, bool as_expected);

  agents::PrepareFlow what_;
  std::vector<std::byte> memory_;
  std::unique_ptr<RcVerbs> verbs_;
  agents::Prepared prepared_;
  std::map<std::string, std::uint64_t> counters_before_;
  std::vector<Lane> lanes_;
  bool going_ = false;
  bool stopped_ = false;
  Instant zero_{};
  Instant first_ = Instant::never();
  Instant last_{};
  std::uint64_t messages_ = 0;
  std::uint64_t octets_ = 0;
  std::uint64_t verified_ = 0;
  std::uint64_t wrong_ = 0;
  std::uint64_t errors_ = 0;
  Histogram latency_;   // ps
  std::string status_;  // of what failed
};

}  // namespace railyard::agent
