// What the ranks of a collective, trace or job did and when: what they computed, which messages were under way, and for
// whom they waited. Made from the times of their steps (run.timeline).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/timeline/intervals.h"
#include "control/timeline/work.h"

namespace railyard::timeline {

// One operation of a rank in a repeat. A receive begins when its message is sent (it is waited for before that), a send
// ends when it is acknowledged, a collective begins when all that it requires is done.
struct Slice {
  std::uint32_t operation = 0;  // of Work::operations of the rank
  Instant from{};
  Instant to{};
};

struct Waiting {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  Interval when{};
  // The rank that ended it by sending a message; at the end of a repeat the rank that is the last. kNobody: its own
  // previous repeat, or the start.
  std::uint32_t rank = kNobody;
};

// A rank in a repeat: from when it begins it (the first one: from when any rank does) until all have their results or it
// begins the next one. That time is compute, exposed and waiting, and nothing else.
struct RankTimes {
  std::vector<Slice> slices{};
  std::vector<Interval> compute{};  // on any stream
  std::vector<Interval> exposed{};  // a message to it or from it is under way, and it does not compute
  std::vector<Waiting> waiting{};
};

struct RepeatTimes {
  std::size_t repeat = 0;  // from 0
  Instant from{};          // the first rank that works starts
  Instant to{};            // the last of them has its result
  std::vector<RankTimes> ranks{};
};

struct Timeline {
  Work work{};
  std::vector<std::string> ranks{};    // as people call them: "h1/gpu3"
  std::size_t working = 0;             // of them; those behind them only store for a job
  std::vector<RepeatTimes> repeats{};  // that are complete and were recorded
};

// Nothing: the steps of its ranks are not recorded.
std::optional<Timeline> timeline_of(const build::BuiltLab& lab, const build::Collective& collective);

}  // namespace railyard::timeline
