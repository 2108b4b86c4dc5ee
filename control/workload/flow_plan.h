// Traffic of a spec, pattern by pattern, as a list of flows between NICs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::workload {

// One flow. Its traffic says all but the two ends.
struct FlowPlan {
  std::string name;           // "incast/h2->h1", "#2" and so on behind it for parallel flows
  std::uint64_t id = 0;       // from 1
  std::size_t traffic = 0;    // index into Lab::traffic
  std::size_t index = 0;      // among the flows of that traffic, from 0
  spec::PortName source;
  spec::PortName destination;
  std::optional<Bytes> bytes = {};     // nothing: as the traffic says
  std::optional<Duration> start = {};  // since the run began; nothing: as the traffic says, by index
};

// All flows of `lab`, which is expanded and valid. Random patterns, sizes and arrivals draw from the run's seed and the
// traffic's name; of bidirectional traffic each flow is followed by the one the other way round. Incast, permutation,
// all-to-all and random stay within a rail (NIC k talks to NIC k) where the destinations have one.
std::vector<FlowPlan> plan_flows(const spec::Lab& lab);

}  // namespace railyard::workload
