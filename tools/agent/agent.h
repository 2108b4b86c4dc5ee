// An agent: what it answers to a lab, message by message, and the ranks that it carries out. No socket, no clock.
#pragma once

#include <list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/agent_protocol/messages.h"
#include "dataplane/base/time.h"
#include "tools/agent/agent_rank.h"
#include "tools/agent/verbs.h"

namespace railyard::agent {

struct AgentConfig {
  std::string host;     // of the lab, that it is
  std::string token;    // what the lab wants to hear
  std::string version;  // of this program
};

class Agent {
 public:
  // `verbs` outlives it. Throws VerbsError if there is no RDMA device.
  Agent(Verbs& verbs, AgentConfig config);

  // What it says first.
  nlohmann::json hello() const;
  // A message of the lab. Throws agents::ProtocolError: it makes no sense; and Refused.
  void on_message(Instant now, const nlohmann::json& message);
  // The lab does not take this agent: why.
  class Refused : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  // Goes on with its ranks. True: there was something to do.
  bool work(Instant now);
  // When it wants work() to be called although no completion has come.
  Instant next_due() const noexcept;
  std::vector<int> ready_fds() const;

  // What it has to say since it was last asked.
  std::vector<nlohmann::json> take_outgoing() { return std::exchange(outgoing_, {}); }
  // What happened, for people, since it was last asked.
  std::vector<std::string> take_log() { return std::exchange(log_, {}); }
  bool welcome() const noexcept { return welcome_; }

 private:
  struct Rank {
    Rank(Verbs& verbs, agents::Prepare what) : rank(verbs, std::move(what)) {}
    AgentRank rank;
    bool told = false;  // done or failed
    bool dead = false;  // failed: nothing is done for it any more
  };
  Rank& rank_named(agents::RankId id);
  void prepare(const nlohmann::json& message);
  void tell(Rank& rank);
  void fail(agents::RankId id, const std::string& why);
  // Calls it; what goes wrong with a rank is that rank's failure.
  template <class Do>
  void guarded(agents::RankId id, Do&& what);

  Verbs& verbs_;
  AgentConfig config_;
  std::vector<agents::DevicePort> devices_;
  bool welcome_ = false;
  std::list<Rank> ranks_;
  std::vector<nlohmann::json> outgoing_;
  std::vector<std::string> log_;
};

}  // namespace railyard::agent
