// The pairs of NICs that probes measure.
#pragma once

#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

struct ProbedPair {
  PortName from, to;
};

// Ordered pairs of NICs k of different hosts: built in, and connected by switches. In the order of the file.
std::vector<ProbedPair> probed_pairs(const Lab& lab);

// From the beginning of a pair's train to that of the next one: twice as long as the train takes on the slowest link of
// any host, and the longest way through the fabric.
Duration probe_slot(const Lab& lab);

}  // namespace railyard::spec
