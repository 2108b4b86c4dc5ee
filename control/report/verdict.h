// What a run is held against, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/report/percentiles.h"
#include "control/spec/spec.h"

namespace railyard::report {

struct Report;
using Budgets = spec::BudgetSpec;

// One question with its answer.
struct Verdict {
  // Open: there is nothing to answer it by. Note: neither good nor bad, and worth knowing.
  enum class Answer { kPass, kFail, kOpen, kNote };
  std::string name;                           // "latency"
  Answer answer = Answer::kOpen;
  std::string text;  // what was found, what was allowed
};

std::string_view word(Verdict::Answer answer);  // "pass", "fail", "open", "note"

// Nothing: run.budgets sets no limit from NIC to NIC.
std::optional<bool> is_within(const Budgets& budgets, const Percentiles& latency_ns);

// Queues of switches whose ingress groups crossed XOFF, by what came first there.
struct CeAndXoff {
  std::uint64_t queues = 0;
  std::uint64_t ce_first = 0;
  std::uint64_t xoff_first = 0;
  std::uint64_t never_marked = 0;
};
CeAndXoff ce_and_xoff(const Report& report);

}  // namespace railyard::report
