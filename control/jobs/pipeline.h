// In which order a stage of a pipeline does the passes of its microbatches.
#pragma once

#include <cstdint>
#include <vector>

namespace railyard::jobs {

// GPipe (Huang et al., NeurIPS '19): all forward passes, then all backward ones. 1F1B (PipeDream-Flush, Narayanan et al.,
// ICML '21): one of each in turn once the pipeline is full. Interleaved 1F1B (Narayanan et al., SC '21, section 2.2): each
// stage has several chunks of layers, which lie `stages` apart.
enum class PipelineSchedule : std::uint8_t { kGpipe, k1F1B, kInterleaved };

struct Pass {
  bool forward = true;
  int microbatch = 0;
  int chunk = 0;  // of the stage's

  bool operator==(const Pass&) const = default;
};

// `microbatches` at least 1; `chunks`: 1 unless interleaved, and then `microbatches` is a multiple of `stages`.
std::vector<Pass> passes(PipelineSchedule schedule, int stage, int stages, int chunks, int microbatches);

// The part of a step in which a stage waits if passes of all stages take equally long and messages no time:
// (p - 1) / (v m + p - 1) with p stages, m microbatches and v chunks.
double ideal_bubble(int stages, int chunks, int microbatches) noexcept;

}  // namespace railyard::jobs
