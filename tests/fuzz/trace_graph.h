// What must hold of any trace that a reader takes: it fits together, or one sentence says what does not; programs of all
// ranks follow, with both ends of each message; and GOAL of it can be read.
#pragma once

#include <cstddef>

#include "control/jobs/compile.h"
#include "control/jobs/expand.h"
#include "control/jobs/goal.h"
#include "control/jobs/write_csv.h"
#include "control/jobs/write_goal.h"
#include "tests/fuzz/expect.h"

namespace railyard::fuzz {

template <class Read>
int expect_trace(const Read& graph) {
  if (!graph) {
    FUZZ_EXPECT(!graph.error().text.empty());
    return 0;
  }
  constexpr std::size_t kMostRanks = 64;
  if (graph->ranks.size() > kMostRanks) return 0;
  const auto matches = jobs::check(*graph);
  if (!matches) {
    FUZZ_EXPECT(!matches.error().text.empty());
    return 0;
  }
  // Larger ones are refused by the number of their messages.
  const jobs::CompileOptions options{.chunk = 65'536};
  constexpr double kMostMessages = 20'000;
  if (jobs::messages(*graph, options) > kMostMessages) return 0;
  const auto programs = jobs::compile(*graph, *matches, options);
  FUZZ_EXPECT(programs.size() == graph->ranks.size());
  std::size_t sends = 0, receives = 0;
  for (const RankProgram& p : programs)
    for (const CollectiveStep& s : p.steps) {
      sends += s.kind == CollectiveStep::Kind::kSend ? 1u : 0u;
      receives += s.receives() ? 1u : 0u;
      if (s.kind != CollectiveStep::Kind::kCompute) FUZZ_EXPECT(s.connection < p.connections.size());
    }
  FUZZ_EXPECT(sends == receives);
  FUZZ_EXPECT(!jobs::write_csv(*graph).empty());
  const jobs::JobGraph plain = jobs::expanded(*graph, options);
  FUZZ_EXPECT(jobs::check(plain).has_value());
  const auto again = jobs::read_goal(jobs::write_goal(plain));
  FUZZ_EXPECT(again.has_value() && again->operations() == plain.operations());
  return 0;
}

}  // namespace railyard::fuzz
