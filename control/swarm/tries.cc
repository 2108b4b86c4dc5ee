#include "control/swarm/tries.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "control/swarm/trial.h"

namespace railyard::swarm {
namespace {

Outcome attempt(const Task& task) {
  try {
    return task.lab.empty() ? try_seed(task.seed, task.without) : try_lab(task.lab);
  } catch (const std::exception& error) {
    Outcome o;
    o.violations.push_back({"run", error.what()});
    return o;
  }
}

}  // namespace

Outcome outcome_of(const scheduler::Ended& ended) {
  if (ended.exit_code == 0) return Outcome::from_json(ended.output);
  Outcome o;
  if (ended.late)
    o.violations.push_back({"time", ended.error});
  else if (ended.exit_code < 0)
    o.violations.push_back({"crash", ended.error});
  else
    o.violations.push_back({"crash", fmt::format("ended with {}: {}", ended.exit_code, ended.error)});
  return o;
}

void try_all(const std::vector<Task>& tasks, std::size_t parallel, const std::function<bool(std::size_t, Outcome)>& done) {
  scheduler::run_all(
      tasks.size(), {.parallel = parallel, .seconds = kMostSeconds},
      [&](std::size_t index) { return attempt(tasks[index]).json(); },
      [&](const scheduler::Ended& ended) {
        Outcome outcome = outcome_of(ended);
        outcome.seed = tasks[ended.index].seed;
        return done(ended.index, std::move(outcome));
      });
}

Outcome try_one(const Task& task) {
  Outcome result;
  try_all({task}, 1, [&](std::size_t, Outcome o) {
    result = std::move(o);
    return true;
  });
  return result;
}

}  // namespace railyard::swarm
