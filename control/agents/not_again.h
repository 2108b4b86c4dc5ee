// Why a flow or a collective with agents is not run again.
#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "control/agents/phase.h"

namespace railyard::agents {

// One sentence.
class NotAgain : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws NotAgain unless it has come to its end. `what`: "flow t", and `state`, for people.
inline void expect_ended(Phase phase, const std::string& what, const std::string& state) {
  if (phase == Phase::kDone || phase == Phase::kFailed) return;
  throw NotAgain(fmt::format("{}: {}; expected one that completed or failed", what, state));
}

}  // namespace railyard::agents
