// Something that an agent carries out for a lab over verbs: a rank of a collective (agent_rank.h), an end of a flow
// (agent_flow.h).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "control/agent_protocol/messages.h"
#include "dataplane/base/time.h"
#include "tools/agent/verbs.h"

namespace railyard::agent {

// In this order: made, connect(), go(), work() as long as it lasts. Time is the host's, from anywhere on. All throw
// VerbsError.
class AgentTask {
 public:
  virtual ~AgentTask() = default;

  virtual agents::TaskId id() const = 0;
  virtual const agents::Prepared& prepared() const noexcept = 0;
  // Brings the QPs to RTS. Throws agents::ProtocolError if there are more or fewer peers than QPs.
  virtual void connect(const agents::Connect& connect) = 0;
  virtual void go(Instant now) = 0;
  // Nothing more is begun.
  virtual void stop(Instant) {}

  // Takes what is complete and goes on from there. True: there was something.
  virtual bool work(Instant now) = 0;
  // When it wants work() to be called although nothing is complete.
  virtual Instant next_due() const noexcept { return Instant::never(); }
  virtual int ready_fd() const = 0;

  virtual bool complete() const noexcept = 0;
  virtual bool failed() const noexcept = 0;
  // Whether the lab wants to hear of it before it is complete.
  virtual bool tells_progress() const noexcept { return false; }
  // What became of it so far, as a message of that type; `failure`: why, if it is not its own failure.
  virtual nlohmann::json result(Verbs& verbs, std::string_view type, const std::string& failure) const = 0;
  // The same, in a few words.
  virtual std::string summary() const = 0;
};

// What the port of a device has counted since it was asked before.
inline std::map<std::string, std::uint64_t> counted_since(const std::map<std::string, std::uint64_t>& before,
                                                          Verbs& verbs, const std::string& device) {
  std::map<std::string, std::uint64_t> more;
  for (const auto& [name, count] : verbs.counters(device)) {
    const auto found = before.find(name);
    const std::uint64_t was = found == before.end() ? 0 : found->second;
    if (count > was) more[name] = count - was;
  }
  return more;
}

inline std::uint64_t whole_ns(Duration d) noexcept {
  return d.ps <= 0 ? 0 : static_cast<std::uint64_t>(nanoseconds(d));
}

}  // namespace railyard::agent
