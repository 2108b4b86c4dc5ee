// The job that a plan's designs are compared by, as a fabric file says it.
#pragma once

#include <string>

#include "control/plan/request.h"

namespace railyard::plan {

struct PlannedJob {
  std::string yaml;         // "jobs:" with one job, called "job"
  std::string description;  // "Llama ... on 128 GPUs: tp 8, pp 2, dp 8, ..."
  std::string unit;         // what its time is of: "step", "all requests"
};

// Of the workload: training with tensor, pipeline and data parallelism, as few stages as fit in memory; FSDP with
// adapters; or prefill and decode on half of the nodes each. `hosts`: those of the lab that it takes, the first ones;
// 0: all. `nodes`: of these, as many nodes. Throws spec::SpecError: the GPUs do not suit the model.
PlannedJob planned_job(const Request& request, int nodes, int hosts);

// Tensor, pipeline and data parallelism: the fewest stages that fit in memory, else the most that divide layers and
// GPUs.
struct Degrees {
  int tensor = 1, pipeline = 1, data = 1;
  double octets = 0;  // that a GPU holds then
};
Degrees degrees(const Request& request, int gpus);

}  // namespace railyard::plan
