// What a training job reads and writes beside its messages: samples, checkpoints; and what failures make of its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::jobs {

// What becomes of the job when the copy of the model that has lost a rank is left out.
enum class Elastic : std::uint8_t {
  kOff,           // it is not: the rank is replaced
  kSmallerBatch,  // the other copies go on as they were: fewer tokens in a step
  kSameBatch      // they share out its microbatches
};

// A rank fails in a step: all stop, start again after a time, and go on from the last checkpoint.
struct Failure {
  int step = 1;  // that fails, from 1, as they are carried out: steps that are done again count
  Duration restart{};
  Elastic elastic = Elastic::kOff;
  std::optional<int> rank{};  // that fails, of the job's, from 0; said if it is elastic
  int returns = 0;  // the step from which its copy takes part again, as `step` counts; 0: never

  bool operator==(const Failure&) const = default;
};

struct Storage {
  int ranks = 0;  // behind the job's own; they only store. 0: nothing is stored
  int every = 0;  // a checkpoint at the end of so many steps; 0: none
  // Of a parameter in a checkpoint. Mixed precision with Adam: 2 octets of the parameter, 4 of its copy in FP32, 4 and 4 of
  // its moments (Rajbhandari et al., "ZeRO", SC '20, section 3.1, without gradients).
  int parameter_octets = 14;
  bool restore = false;  // the first step begins with a checkpoint
  Bytes sample{};        // that first stages read for each sequence of the next step; 0: none
  std::vector<Failure> failures{};
  int steps = 1;  // of the job

  bool operator==(const Storage&) const = default;
};

// Steps of a job by number, from 0.
struct Course {
  std::vector<std::uint32_t> checkpoints;  // at whose end one is written
  std::vector<std::uint32_t> restores;     // that begin with one
  std::vector<std::pair<std::uint32_t, Duration>> restarts;  // that begin so much later
  // That count: they did not fail, and were not between the last checkpoint and a failure, or a copy's return.
  std::vector<std::uint32_t> counted;
  int lost = 0;                        // the others
};
Course course(const Storage& storage);

// Labels of operations of storage.
inline constexpr std::string_view kCheckpoint = "checkpoint", kRestore = "restore", kRestart = "restart", kSamples = "samples";

}  // namespace railyard::jobs
