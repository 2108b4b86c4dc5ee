// Workload files of SimAI, as AICB writes them (github.com/aliyun/SimAI, astra-sim-alibabacloud/astra-sim/workload/
// Workload.cc), and of ASTRA-sim 1, from which they come.
#pragma once

#include <expected>
#include <string_view>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// Whether a text begins as such a file does: with the name of a way of training.
bool is_simai(std::string_view text);

// A line of settings ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 32"),
// the number of layers, and a line per layer:
//
//   name dependency  time operation bytes  time operation bytes  time operation bytes  update-time
//                    forward               input gradient        weight gradient       all times in ns
//
// Each rank goes forward through the layers and back; communication of forward passes and of input gradients is waited
// for, that of weight gradients goes on beside. Operations are NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL; those
// of forward passes and input gradients are of tensor-parallel groups (consecutive ranks), of weight gradients of
// data-parallel ones; _EP and _DP_EP behind the name say expert-parallel groups and data-parallel ones of experts.
// HYBRID_TRANSFORMER is read likewise; DATA has one data-parallel group, MODEL one tensor-parallel group, MICRO the
// weight gradients' operations only.
//
// DEVIATION: as in SimAI's simulator all pipeline stages (pp) do the same at once; pp_comm is not sent. Checkpoints
// (recomputing) are refused. The graph is not checked yet (check()).
std::expected<JobGraph, TraceError> read_simai(std::string_view text);

}  // namespace railyard::jobs
