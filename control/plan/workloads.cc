#include "control/plan/workloads.h"

#include <algorithm>
#include <array>

namespace railyard::plan {
namespace {

constexpr std::array kWorkloads{
    WorkloadNeeds{
        Workload::kPretraining,
        "pretraining",
        {1},
        "NVIDIA HGX reference architecture: non-blocking",
        Isolation::kSeparate,
        "all ranks wait for the slowest flow, so nothing else may share its queues (Gangidi et al., SIGCOMM '24: a "
        "back-end network of its own)"},
    WorkloadNeeds{
        Workload::kFineTuning,
        "fine-tuning",
        {2},
        "our choice: shards stay inside a node",
        Isolation::kSharedQos,
        "steps are short and most bytes stay on the scale-up network, so a lossless class of its own is enough (our "
        "choice)"},
    WorkloadNeeds{
        Workload::kInferenceRag,
        "inference-rag",
        {3},
        "our choice: models fit in a node",
        Isolation::kVrf,
        "requests come from outside: tenants need routing tables of their own, and KV caches a class of their own "
        "(our choice)"},
    WorkloadNeeds{
        Workload::kMixed,
        "mixed",
        {1},
        "our choice: that of its most demanding part, pretraining",
        Isolation::kVrf,
        "one fabric serves all, with a routing table for each tenant and a class for each kind of traffic; split off "
        "training once it has most of the GPUs (our choice)"},
};

}  // namespace

std::span<const WorkloadNeeds> workloads() noexcept { return kWorkloads; }

const WorkloadNeeds& needs(Workload workload) noexcept {
  return *std::ranges::find(kWorkloads, workload, &WorkloadNeeds::workload);
}

std::string_view name(Isolation isolation) noexcept {
  switch (isolation) {
    case Isolation::kSharedQos:
      return "shared fabric, QoS classes";
    case Isolation::kVrf:
      return "shared fabric, VLAN and VRF for each tenant";
    case Isolation::kSeparate:
      break;
  }
  return "separate fabrics";
}

}  // namespace railyard::plan
