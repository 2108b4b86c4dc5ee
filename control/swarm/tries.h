// Seeds that are tried beside each other, each in a process of its own: what crashes is a seed that fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "control/scheduler/scheduler.h"
#include "control/swarm/outcome.h"

namespace railyard::swarm {

struct Task {
  std::uint64_t seed = 0;
  std::set<std::string> without;  // names of traffic and faults that are left out
  std::string lab;                // a fabric file in the place of the seed's
};

inline constexpr unsigned kMostSeconds = 120;

// Tries `tasks` in order, `parallel` at a time (scheduler/scheduler.h; 0: one for each processor), and hands over what comes
// of each, with its place among them, as it comes, until `done` returns false. A task whose process ends has broken the rule
// "crash"; one that takes longer than kMostSeconds, "time". The caller must have no other threads.
void try_all(const std::vector<Task>& tasks, std::size_t parallel, const std::function<bool(std::size_t, Outcome)>& done);
Outcome try_one(const Task& task);

// What came of a seed whose process has ended so; its output is the outcome, if it came to one.
Outcome outcome_of(const scheduler::Ended& ended);

}  // namespace railyard::swarm
