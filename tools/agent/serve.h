// An agent at work: messages in and out of a stream, completions, time.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "tools/agent/agent.h"
#include "tools/agent/lab_stream.h"

namespace railyard::agent {

// Until the lab has closed the stream, or `stop` is set and a signal has come. `log` is told what happened. Throws
// Agent::Refused, agents::ProtocolError; std::runtime_error if the lab says nothing for too long.
void serve(Agent& agent, const LabStream& stream, const std::atomic<bool>& stop,
           const std::function<void(const std::string&)>& log);

}  // namespace railyard::agent
