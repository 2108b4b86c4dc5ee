// NICs that a node should have, by workload, size of the model and kind of GPU.
#pragma once

#include <string>

#include "control/plan/workloads.h"
#include "control/spec/spec.h"
#include "dataplane/base/units.h"

namespace railyard::plan {

struct Request;

struct NicAdvice {
  int nics = 8;  // of a node, a divisor of its GPUs
  BitRate rate{400'000'000'000};
  spec::PcieSlot slot{.generation = 5, .lanes = 16};  // of each NIC
  std::string count{};                                // in words: "one for each GPU"
  std::string reason{};                               // of the count: "pretraining", "inference-rag, model in one GPU"
  std::string source{};                               // of the count and the rate
};

// For the GPUs and the model of the request, if they did `workload`. A server of reference for the kind of GPU has the
// most NICs and the highest rate; smaller models of other workloads take fewer. If communication needs more
// (communication.h), the next larger number of NICs is taken. Sources: docs/plan.md.
NicAdvice advise_nics(const Request& request, Workload workload);

}  // namespace railyard::plan
