// What became of a collective of which agents carry out ranks, as of any other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/agent_protocol/messages.h"
#include "control/build/built_lab.h"
#include "control/report/collective_report.h"
#include "dataplane/base/time.h"

namespace railyard::agents {

struct AgentCollectiveState {
  const build::AgentCollective* what = nullptr;
  std::vector<std::optional<RankResult>> results{};  // by rank, of agents
  Instant went = Instant::never();                   // when it started
  std::string state{};                               // for people: what it waits for, why it failed
};

// While the lab rests. Agents' times are from the instant at which they were told to go, so they are late by as much as
// that takes on its way to them.
report::CollectiveReport agent_collective_report(const build::BuiltLab& lab, const AgentCollectiveState& state);

}  // namespace railyard::agents
