#include "control/jobs/storage.h"

#include <algorithm>

namespace railyard::jobs {

Course course(const Storage& storage) {
  Course out;
  if (storage.restore) out.restores.push_back(0);
  std::size_t saved = 0;  // steps that count, in the last checkpoint
  const auto go_back = [&](std::uint32_t next, Duration restart) {
    out.counted.resize(saved);
    if (restart > Duration{}) {
      if (!out.restarts.empty() && out.restarts.back().first == next)
        out.restarts.back().second = std::max(out.restarts.back().second, restart);
      else
        out.restarts.emplace_back(next, restart);
    }
    // Without a checkpoint the job begins anew, from nothing or from what it began with.
    if ((saved > 0 || storage.restore) && (out.restores.empty() || out.restores.back() != next)) out.restores.push_back(next);
  };
  for (int step = 0; step < storage.steps; ++step) {
    for (const Failure& f : storage.failures)
      if (f.returns == step + 1) go_back(static_cast<std::uint32_t>(step), f.restart);
    const auto failure = std::ranges::find(storage.failures, step + 1, &Failure::step);
    if (failure == storage.failures.end()) {
      out.counted.push_back(static_cast<std::uint32_t>(step));
      if (storage.every > 0 && out.counted.size() % static_cast<std::size_t>(storage.every) == 0) {
        out.checkpoints.push_back(static_cast<std::uint32_t>(step));
        saved = out.counted.size();
      }
    } else if (step + 1 < storage.steps) {
      go_back(static_cast<std::uint32_t>(step + 1), failure->restart);
    } else {
      out.counted.resize(saved);
    }
  }
  out.lost = storage.steps - static_cast<int>(out.counted.size());
  return out;
}

}  // namespace railyard::jobs
