#include "control/plan/communication.h"

#include <algorithm>
#include <cmath>

#include "control/plan/job.h"
#include "control/plan/memory_need.h"

namespace railyard::plan {

double Communication::exposed(BitRate of_gpu) const {
  return std::max(0.0, octets * 8 / static_cast<double>(of_gpu.bps) - hidden) / compute;
}

BitRate Communication::rate_for(double share) const {
  return {static_cast<std::int64_t>(std::ceil(octets * 8 / (hidden + share * compute)))};
}

Communication communication(const Request& r) {
  const double flops = gpu_named(r.gpu).flops * kMfu;
  const auto parameters = static_cast<double>(r.model.parameters());
  const auto active = static_cast<double>(r.model.active_parameters());  // of each token
  Communication c;
  if (r.workload == Workload::kInferenceRag) {
    constexpr double kPrompt = 512;
    c.what = "KV cache of a prompt";
    c.hidden_what = "its prefill";
    c.octets = kPrompt * 4 * r.model.layers * static_cast<double>(r.model.kv_width()) / r.gpus_per_node;
    c.hidden = c.compute = kPrompt * 2 * active / flops / r.gpus_per_node;
    return c;
  }
  c.what = r.workload == Workload::kFineTuning ? "gradients and parameters of adapters" : "gradients and parameters";
  c.hidden_what = "a microbatch";
  const Degrees d = degrees(r, r.gpus);
  const int parts = d.tensor * d.pipeline;
  const int microbatches = std::max(4, 2 * d.pipeline);
  // Ring: 2 (n - 1) / n times what there is, 2 octets for each parameter.
  c.octets = 2.0 * (d.data - 1) / d.data * 2 * parameters / parts;
  if (r.workload == Workload::kFineTuning) c.octets /= kAdapterShare;
  c.hidden = 6 * active * static_cast<double>(r.model.sequence) / parts / flops;
  c.compute = c.hidden * microbatches;
  return c;
}

}  // namespace railyard::plan
