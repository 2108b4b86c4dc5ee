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

}  // namespace railyard::doctor
