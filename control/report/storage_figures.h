// What checkpoints and failures make of a training job's time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/jobs/eras.h"
#include "control/jobs/storage.h"

namespace railyard::report {

// Ordinary steps: those that write no checkpoint, read none, and do not follow a failure.
struct StorageFigures {
  std::uint64_t checkpoint_bytes = 0;  // of one, over all ranks
  int checkpoints = 0;                 // written
  int restores = 0;                    // read
  int failures = 0;
  int lost_steps = 0;  // that count for nothing: they failed, or were before a failure and after its last checkpoint
  // How much longer a step takes that ends with writing one, or begins with reading one (the restart left out), than an
  // ordinary step of as many copies: medians. Nothing: there are no such steps, or none is ordinary.
  std::optional<std::int64_t> checkpoint_ns;
  std::optional<std::int64_t> restore_ns;
  // Effective training time ratio (Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research
  // Clusters", HPCA '25): steps that count, times an ordinary step, over the time from the first step's start to the last
  // one's end.
  // Steps of a job that shrinks count by their tokens, as parts of a step of all copies.
  std::optional<double> ettr;
  // Of a job that shrinks (control/jobs/eras.h), the first one with all copies. Empty: it does not.
  struct Era {
    int first_step = 1;  // from 1
    int steps = 0;
    int copies = 0;
    std::optional<std::int64_t> step_ns{};  // an ordinary step: median
    std::optional<double> tokens_per_second{};
  };
  std::vector<Era> eras{};
};

struct StepTime {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> time_ns;
};

// `eras`: of a job that shrinks. Nothing: the job stores nothing and no rank of it fails.
std::optional<StorageFigures> storage_figures(const jobs::Storage& storage, std::uint64_t checkpoint_bytes,
                                              std::span<const StepTime> steps, const std::vector<jobs::Era>& eras = {});

// A line for people, which begins with the name.
std::string storage_text(const std::string& name, const StorageFigures& figures);

}  // namespace railyard::report
