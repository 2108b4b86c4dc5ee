// GPUs that a model needs: what training or serving holds in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/jobs/model.h"
#include "control/plan/workloads.h"

namespace railyard::plan {

// Of one copy of a model, in octets.
struct MemoryNeed {
  std::string model;
  std::uint64_t parameters = 0;   // how many
  std::uint64_t weights = 0;      // 2 octets for each (BF16)
  std::uint64_t gradients = 0;    // 2 (training)
  std::uint64_t optimizer = 0;    // 12: FP32 parameters, momentum, variance of Adam (training)
  std::uint64_t activations = 0;  // of training one sequence; KV cache of serving
  std::uint64_t total() const noexcept { return weights + gradients + optimizer + activations; }
  int gpus = 0;   // that hold it
  int nodes = 0;  // of so many
};

// Parameters, gradients, optimizer: Rajbhandari et al., "ZeRO", SC '20, section 3.1: 16 octets per parameter of mixed
// precision with Adam. Activations: Korthikanti et al., MLSys '23, section 4.1, with attention recomputed: 34 octets x
// sequence x hidden for each layer and sequence. Fine-tuning trains adapters (LoRA, Hu et al., ICLR '22) of a hundredth
// of the parameters. Serving keeps the weights and the keys and values of 32 sequences. A tenth of a GPU's memory is
// left to everything else (our choice). Whole nodes once a node is not enough.
MemoryNeed memory_need(const jobs::Model& model, Workload workload, std::uint64_t gpu_octets, int gpus_per_node);

inline constexpr double kUsableMemory = 0.9;
inline constexpr int kServedSequences = 32;
inline constexpr int kAdapterShare = 100;

}  // namespace railyard::plan
