#include "control/plan/job.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/plan/arithmetic.h"
#include "control/plan/memory_need.h"
#include "control/report/units.h"
#include "control/spec/spec_error.h"

namespace railyard::plan {
namespace {

// The most GPUs of a node that can share out the heads.
int tensor_degree(const Request& r, int gpus) {
  int tensor = std::min(r.gpus_per_node, gpus);
  const int kv = r.model.kv_heads > 0 ? r.model.kv_heads : r.model.heads;
  while (tensor > 1 &&
         (r.gpus_per_node % tensor != 0 || r.model.heads % tensor != 0 || kv % tensor != 0 || gpus % tensor != 0))
    --tensor;
  return tensor;
}

// "ranks: [h1, h2]", of those at the beginning; nothing for all.
std::string ranks_text(int hosts) {
  if (hosts == 0) return {};
  std::vector<std::string> names;
  for (int i = 1; i <= hosts; ++i) names.push_back(fmt::format("h{}", i));
  return fmt::format("    ranks: [{}]\n", fmt::join(names, ", "));
}

std::string model_text(const Request& r) {
  const jobs::Model& m = r.model;
  std::string experts;
  if (m.experts > 0) experts = fmt::format(", experts: {}, experts-per-token: {}", m.experts, m.experts_per_token);
  return fmt::format(
      "    model: {{ layers: {}, hidden: {}, heads: {}, kv-heads: {}, feed-forward: {}, gated: {}, vocabulary: {}, "
      "sequence: {}{} }}\n",
      m.layers, m.hidden, m.heads, m.kv_heads > 0 ? m.kv_heads : m.heads, m.feed_forward, m.gated, m.vocabulary,
      m.sequence, experts);
}

}  // namespace

Degrees degrees(const Request& r, int gpus) {
  Degrees d{.tensor = tensor_degree(r, gpus)};
  const MemoryNeed need = memory_need(r.model, Workload::kPretraining, gpu_memory(r.gpu), r.gpus_per_node);
  const double usable = kUsableMemory * static_cast<double>(gpu_memory(r.gpu));
  for (int stages = 1; stages <= std::min(r.model.layers, gpus / d.tensor); ++stages) {
    if (r.model.layers % stages != 0 || gpus / d.tensor % stages != 0) continue;
    d.pipeline = stages;
    d.data = gpus / d.tensor / stages;
    const double parts = static_cast<double>(d.tensor) * stages;
    // ZeRO-1: optimizer states are shared out among the copies, too.
    d.octets = static_cast<double>(need.weights + need.gradients) / parts +
               static_cast<double>(need.optimizer) / (parts * d.data) +
               static_cast<double>(need.activations) / d.tensor;
    if (d.octets <= usable) break;
  }
  return d;
}

PlannedJob planned_job(const Request& r, int nodes, int hosts) {
  PlannedJob out;
  const int gpus = nodes * r.gpus_per_node;
  std::string body;
  if (r.workload == Workload::kInferenceRag) {
    const int replicas = std::max(1, nodes / 2);
    if (nodes < 2)
      throw spec::SpecError(spec::Place{.file = "--compare"},
                            "prefill and decode need a node each; expected two nodes or more");
    const int tensor = tensor_degree(r, gpus);
    const int copies = replicas * (r.gpus_per_node / tensor);
    constexpr int kRequests = 8, kRate = 50;  // of each copy
    body = fmt::format(
        "    inference: {{ prefill: {{ tp: {}, replicas: {} }}, decode: {{ tp: {}, replicas: {} }}, rate: {}/s, "
        "requests: {}, "
        "prompt: 512, output: 64 }}\n",
        tensor, copies, tensor, copies, copies * kRate, copies * kRequests);
    out.description = fmt::format("{} serves {} requests on {}: {} for prefill and {} for decode, tp {}",
                                  r.model.name, report::count_text(static_cast<std::uint64_t>(copies * kRequests)),
                                  counted(gpus, "GPU", "GPUs"), counted(copies, "copy", "copies"),
                                  report::count_text(static_cast<std::uint64_t>(copies)), tensor);
    out.unit = "all requests";
    // Of an odd number of nodes one is left over.
    if (nodes % 2 != 0) hosts = (hosts > 0 ? hosts : nodes) * (nodes - 1) / nodes;
  } else if (r.workload == Workload::kFineTuning) {
    body = fmt::format(
        "    sharding: zero-3\n    shard: {}\n    compression: {}\n    microbatches: 2\n    microbatch-size: 4\n"
        "    sequence: 512\n    segments: 4\n    chunk: 64MiB\n",
        r.gpus_per_node, kAdapterShare);
    out.description =
        fmt::format("{} with adapters on {}: FSDP, shards in a node of {}", r.model.name, counted(gpus, "GPU", "GPUs"),
                    r.gpus_per_node);
    out.unit = "step";
  } else {
    const Degrees d = degrees(r, gpus);
    const int microbatches = std::max(4, 2 * d.pipeline);
    body = fmt::format(
        "    parallelism: {{ tp: {}, pp: {}, dp: {} }}\n    microbatches: {}\n    sharding: zero-1\n"
        "    sequence-parallel: {}\n    segments: 1\n    chunk: 64MiB\n",
        d.tensor, d.pipeline, d.data, microbatches, d.tensor > 1);
    const auto octets = static_cast<std::uint64_t>(d.octets);
    out.description = fmt::format(
        "{} on {}: tp {}, pp {}, dp {}, {} microbatches, ZeRO-1, {} for each GPU{}", r.model.name,
        counted(gpus, "GPU", "GPUs"), d.tensor, d.pipeline, report::count_text(static_cast<std::uint64_t>(d.data)), microbatches, report::size_text(octets),
        octets > gpu_memory(r.gpu)
            ? fmt::format(" (it has {}: more GPUs are needed, or recomputation)", report::size_text(gpu_memory(r.gpu)))
            : "");
    out.unit = "step";
  }
  out.yaml = "jobs:\n  - name: job\n" + model_text(r) + fmt::format("    gpu: {}\n", r.gpu) + ranks_text(hosts) + body;
  return out;
}

}  // namespace railyard::plan
