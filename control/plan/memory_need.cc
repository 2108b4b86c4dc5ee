#include "control/plan/memory_need.h"

#include <cmath>

namespace railyard::plan {

MemoryNeed memory_need(const jobs::Model& m, Workload workload, std::uint64_t gpu_octets, int gpus_per_node) {
  MemoryNeed need{.model = m.name, .parameters = m.parameters()};
  const auto sequence = static_cast<std::uint64_t>(m.sequence), hidden = static_cast<std::uint64_t>(m.hidden),
             layers = static_cast<std::uint64_t>(m.layers);
  need.weights = 2 * need.parameters;
  if (workload == Workload::kInferenceRag) {
    // Keys and values, 2 octets each.
    need.activations = kServedSequences * sequence * 2 * 2 * layers * m.kv_width();
  } else {
    const std::uint64_t trained = workload == Workload::kFineTuning ? need.parameters / kAdapterShare : need.parameters;
    need.gradients = 2 * trained;
    need.optimizer = 12 * trained;
    need.activations = 34 * sequence * hidden * layers;
  }
  const double usable = kUsableMemory * static_cast<double>(gpu_octets);
  const int gpus = static_cast<int>(std::ceil(static_cast<double>(need.total()) / usable));
  need.nodes = (gpus + gpus_per_node - 1) / gpus_per_node;
  need.gpus = gpus <= gpus_per_node ? gpus : need.nodes * gpus_per_node;
  return need;
}

}  // namespace railyard::plan
