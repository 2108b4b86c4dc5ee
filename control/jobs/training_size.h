// How large the graph of a training step is, before it is made.
#pragma once

#include "control/jobs/training.h"

namespace railyard::jobs {

// A graph of as many operations takes some 2 GB of memory, and no more of them could send messages within the limit of a step
// (spec::kMostCollectiveMessages).
inline constexpr double kMostTrainingOperations = 1 << 23;

// Operations of all ranks in a step, without those of storage: not fewer than make_graph() makes, and at most half as many again.
double operations(const Training& training) noexcept;

// The error of a training that has `count` operations, more than kMostTrainingOperations.
TrainingError too_many_operations(const Training& training, double count);

}  // namespace railyard::jobs
