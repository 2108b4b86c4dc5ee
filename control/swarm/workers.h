// Processes that try seeds: what crashes takes none but its seed along, and each starts the EAL once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/swarm/outcome.h"

namespace railyard::swarm {

struct Task {
  std::uint64_t seed = 0;
  std::set<std::string> without;  // names of traffic and faults that are left out
  std::string lab;                // a fabric file in the place of the seed's
};

// The calling process must not have started the EAL, nor other threads.
class Workers {
 public:
  explicit Workers(std::size_t processes);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Hands out `tasks` in order, and hands over what comes of them as it comes, until `done` returns false. A task whose
  // process ends has broken the rule "crash"; one that takes longer than kMostSeconds, "time".
  void run(const std::vector<Task>& tasks, const std::function<bool(Outcome)>& done);
  Outcome run(const Task& task);

  static constexpr unsigned kMostSeconds = 120;

 private:
  struct Worker;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace railyard::swarm
