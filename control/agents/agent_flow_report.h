// What became of a flow of which agents have an end, as of any other.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "control/agent_protocol/messages.h"
#include "control/build/built_lab.h"
#include "control/report/report.h"
#include "dataplane/base/time.h"

namespace railyard::agents {

struct AgentFlowState {
  const build::AgentFlow* what = nullptr;
  // Source, sink; of agents:
  std::array<std::optional<FlowResult>, 2> results{};
  std::array<std::string, 2> devices{};
  Instant went = Instant::never();  // when it started
  std::string failure{};            // why it failed; empty: it has not
};

// While the lab rests. Packets, and what is counted of them, are known of a built-in end only; octets and messages of
// both. Agents' times are from the instant at which they were told to go, so they are late by as much as that takes on
// its way to them.
report::FlowReport agent_flow_report(const build::BuiltLab& lab, const AgentFlowState& state);

}  // namespace railyard::agents
