// Flows as fluids that share links with max-min fair rates, from event to event.
#pragma once

#include <vector>

#include "control/estimate/max_min.h"

namespace railyard::hunt {

struct FluidFlow {
  double octets = 0;     // of payload
  double start = 0;      // ns
  double most_rate = 0;  // payload octets a ns, that it has at most
  double wire = 1;       // octets on the wire per octet of payload
  std::vector<estimate::LinkUse> path;
};

// From the start of each to its last octet, ns. `capacities`: by link, wire octets a ns.
std::vector<double> fluid_times(const std::vector<double>& capacities, const std::vector<FluidFlow>& flows);

}  // namespace railyard::hunt
