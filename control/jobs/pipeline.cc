#include "control/jobs/pipeline.h"

#include <algorithm>

namespace railyard::jobs {
namespace {

// The n-th pass of a kind at each stage: microbatches go in groups of as many as there are stages, chunk after chunk.
Pass nth(bool forward, int n, int stages, int chunks) {
  if (chunks == 1) return {forward, n, 0};
  const int of_group = n % (stages * chunks);
  const int chunk = of_group / stages;
  return {forward, n / (stages * chunks) * stages + of_group % stages, forward ? chunk : chunks - 1 - chunk};
}

}  // namespace

std::vector<Pass> passes(PipelineSchedule schedule, int stage, int stages, int chunks, int microbatches) {
  const int all = microbatches * chunks;
  int ahead = all;  // forward passes before the first backward one
  if (schedule == PipelineSchedule::k1F1B) ahead = std::min(stages - stage - 1, all);
  if (schedule == PipelineSchedule::kInterleaved)
    ahead = std::min((stages - stage - 1) * 2 + (chunks - 1) * stages, all);
  std::vector<Pass> order;
  for (int i = 0; i < ahead; ++i) order.push_back(nth(true, i, stages, chunks));
  for (int i = 0; i < all; ++i) {
    if (ahead + i < all) order.push_back(nth(true, ahead + i, stages, chunks));
    order.push_back(nth(false, i, stages, chunks));
  }
  return order;
}

double ideal_bubble(int stages, int chunks, int microbatches) noexcept {
  return static_cast<double>(stages - 1) / (static_cast<double>(chunks) * microbatches + stages - 1);
}

}  // namespace railyard::jobs
