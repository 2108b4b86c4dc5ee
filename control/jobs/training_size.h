// How large the graph of a training step is, before it is made.
#pragma once

#include "control/jobs/training.h"

namespace railyard::jobs {

// A graph of as many operations takes 0.5 GB of memory, and a run of it 1 GB. The step of 1,024 GPUs that we ship has an eighth of them.
inline constexpr double kMostTrainingOperations = 1 << 21;

// Operations of all ranks in a step, without those of storage: not fewer than make_graph() makes, and at most half as many again.
double operations(const Training& training) noexcept;

// The error of a training that has `count` operations, more than kMostTrainingOperations.
TrainingError too_many_operations(const Training& training, double count);

}  // namespace railyard::jobs
