// Packet latencies of flows, by the NICs at their ends.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/doctor/case.h"

namespace railyard::doctor {

// Medians of flows, ns.
struct Latencies {
  struct Nic {
    std::vector<double> from, to;
  };
  std::map<std::string, Nic> nics;  // "h3", "h3:2"
  double usual = 0;                 // the median of all flows
};

// Of flows with at least 20 packets that arrived.
Latencies latencies_of(const Case& c);

// 0 of nothing.
double median(std::vector<double> values);

// What the deepest queue of all switches takes to drain at its port's rate, ns.
double longest_queue_ns(const Case& c);

// What in-band telemetry saw of the longest queue at an element ("leaf2:4", "leaf2:4-h8:1", "h8": towards it), for the evidence
// of a finding. Empty: nothing, or no packet waited there for 1 us.
std::string waiting_at(const Case& c, const std::string& element);

}  // namespace railyard::doctor
