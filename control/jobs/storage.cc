#include "control/jobs/storage.h"

#include <algorithm>

namespace railyard::jobs {

Course course(const Storage& storage) {
  Course out;
  if (storage.restore) out.restores.push_back(0);
  std::size_t saved = 0;  // steps that count, in the last checkpoint
  for (int step = 0; step < storage.steps; ++step) {
    const auto failure = std::ranges::find(storage.failures, step + 1, &Failure::step);
    if (failure == storage.failures.end()) {
      out.counted.push_back(static_cast<std::uint32_t>(step));
      if (storage.every > 0 && out.counted.size() % static_cast<std::size_t>(storage.every) == 0) {
        out.checkpoints.push_back(static_cast<std::uint32_t>(step));
        saved = out.counted.size();
      }
      continue;
    }
    out.counted.resize(saved);
    if (step + 1 == storage.steps) continue;
    const auto next = static_cast<std::uint32_t>(step + 1);
    if (failure->restart > Duration{}) out.restarts.emplace_back(next, failure->restart);
    // Without a checkpoint the job begins anew, from nothing or from what it began with.
    if (saved > 0 || storage.restore) out.restores.push_back(next);
  }
  out.lost = storage.steps - static_cast<int>(out.counted.size());
  return out;
}

}  // namespace railyard::jobs
