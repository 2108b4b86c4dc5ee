// Packet latencies of flows, by the NICs at their ends.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/doctor/case.h"
#include "control/doctor/distances.h"

namespace railyard::doctor {

// Medians of flows beyond what light takes over their cables, ns.
struct Latencies {
  struct Nic {
    std::vector<double> from, to;
  };
  std::map<std::string, Nic> nics;  // "h3", "h3:2"
  // The same of the fastest packets, which waited least, of flows that say so. Empty: some do not.
  std::map<std::string, Nic> fastest;
  double usual_fastest = 0;
  double usual = 0;                 // the median of all flows
  double spread = 0;                // of the cables' own: between equal ways of different lengths
};

// Of flows with at least 20 packets that arrived.
Latencies latencies_of(const Case& c);

// Whether a flow has enough packets that arrived.
bool has_latency(const nlohmann::ordered_json& flow);

// A percentile of a flow beyond what light takes over the longest of its equal ways, ns.
double beyond_cables(Distances& distances, const nlohmann::ordered_json& flow, const char* percentile);

// 0 of nothing.
double median(std::vector<double> values);

// What the deepest queue of all switches takes to drain at its port's rate, ns.
double longest_queue_ns(const Case& c);

// What in-band telemetry saw of the longest queue at an element ("leaf2:4", "leaf2:4-h8:1", "h8": towards it), for the evidence
// of a finding. Empty: nothing, or no packet waited there for 1 us.
std::string waiting_at(const Case& c, const std::string& element);

}  // namespace railyard::doctor
