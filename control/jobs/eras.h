// A job that shrinks and grows: after a failure the copy of the model that has lost a rank is left out, and the others go on
// (elastic training); later it may return. Its steps fall into eras, each with the copies that are there.
//
// As in torchrun, whose workers start again with the world size that is left and keep their own batch size: `smaller-batch`. As
// in DeepSpeed's elastic training, which keeps the global batch by more gradient accumulation: `same-batch`. Ranks read what
// they need from the last checkpoint, which is shared out among fewer of them now.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "control/jobs/job_graph.h"
#include "control/jobs/training.h"

namespace railyard::jobs {

struct Era {
  std::uint32_t first = 0, end = 0;  // steps, from 0
  std::vector<int> copies;           // places on the data axis that are there, ascending
  Training training;                 // what they do: with so many copies, and their microbatches

  // Whether a rank of the job is in one of them.
  bool has(const Parallelism& parallelism, int rank) const;
  double tokens() const noexcept;  // of a step
};

// The first one has all copies. Error: a rank that is not there or has been left out; no copy is left; what is left does not fit
// together.
std::expected<std::vector<Era>, TrainingError> eras(const Training& training);
// Which of them a step is in; the last one of steps behind it.
const Era& era_of(const std::vector<Era>& eras, std::uint32_t step);

// Of a job with several eras: what goes in each goes in its steps only. Ranks are numbered as in the first one. Those that
// return wait for a message from the rank at their place of another copy, at the end of the step before.
JobGraph make_graph(const Training& training, const std::vector<Era>& eras);

}  // namespace railyard::jobs
