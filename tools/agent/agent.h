// An agent: what it answers to a lab, message by message, and the ranks and ends of flows that it carries out. No
// socket, no clock.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/agent_protocol/messages.h"
#include "dataplane/base/time.h"
#include "tools/agent/agent_task.h"
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

  // Goes on with its tasks. True: there was something to do.
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
  struct Task {
    std::unique_ptr<AgentTask> task;
    bool going = false;
    bool told = false;  // done or failed
    bool dead = false;  // failed: nothing is done for it any more
    Instant told_at{};  // how far it is
  };
  Task* find(const agents::TaskId& id);
  Task& task_named(const agents::TaskId& id);
  // `make`: makes the task.
  void prepare(const agents::TaskId& id, const std::function<std::unique_ptr<AgentTask>()>& make);
  void tell(Task& task);
  void fail(const agents::TaskId& id, const std::string& why);
  void end(Instant now, const agents::TaskId& id, const std::string& why);
  // Calls it; what goes wrong with a task is that task's failure.
  template <class Do>
  void guarded(const agents::TaskId& id, Do&& what);

  Verbs& verbs_;
  AgentConfig config_;
  std::vector<agents::DevicePort> devices_;
  bool welcome_ = false;
  std::list<Task> tasks_;
  std::vector<nlohmann::json> outgoing_;
  std::vector<std::string> log_;
};

}  // namespace railyard::agent
