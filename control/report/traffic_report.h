// The flows of one traffic together: what they got, how long they took, by size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/build/flow.h"
#include "control/report/percentiles.h"
#include "control/spec/spec.h"

namespace railyard::report {

struct FlowReport;

// Flows of at least `from` and less than `below` octets.
struct SizeBin {
  std::uint64_t from = 0;
  std::uint64_t below = 0;
  std::uint64_t flows = 0;
  Spread fct_ns;    // of those that are complete
  Spread slowdown;  // FCT against that on an empty fabric
};

struct TrafficReport {
  // A point of a distribution: at or below `ns` for this part of all packets.
  struct Point {
    double fraction;
    std::uint64_t ns;
  };
  std::string name;
  std::string pattern;
  std::string transport;
  std::uint64_t flows = 0;
  std::uint64_t measured = 0;  // of these, where they end; without any, what receivers count is not known
  std::uint64_t with_end = 0;  // of these, and ...
  std::uint64_t complete = 0;
  std::uint64_t failed = 0;  // a QP in error, a PDC that failed
  // Of with_end: all was sent over a service that answers nothing (UC, UUD), and part of it was lost, which it may be.
  std::uint64_t ended_with_loss = 0;
  std::uint64_t lost_of_these = 0;  // their packets
  std::uint64_t delivered_bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
  std::uint64_t reordered = 0;  // as out_of_order of summary.h
  std::uint64_t retransmitted = 0;
  std::uint64_t marked = 0;
  std::uint64_t cnps = 0;
  Spread goodput_bps;
  std::optional<double> goodput_total_bps;  // of all together, from the first start to the last one's end
  std::uint64_t arrived = 0;                // packets, those of no use included: of these `marked` came with CE
  std::uint64_t requester_packets = 0;      // as of flows
  double jain = 0;  // over goodputs
  Spread share;     // of what framing leaves
  Spread fct_ns;
  Spread slowdown;
  std::uint64_t latency_samples = 0;
  Percentiles latency_ns;             // of all packets of all flows
  std::vector<Point> latency_points;  // the same, for a curve
  std::uint64_t message_samples = 0;  // of flows of messages
  Percentiles message_ns;             // from post to completion
  std::vector<Point> message_points;
  std::vector<SizeBin> by_size;       // if there are flows of several sizes
};

// Of every traffic of `lab`, in its order. `reports`: of the same flows in the same order.
std::vector<TrafficReport> traffic_reports(const spec::Lab& lab, const std::vector<build::Flow>& flows,
                                           const std::vector<FlowReport>& reports);

// The word of the fabric file.
std::string_view word(spec::TrafficSpec::Pattern pattern);

}  // namespace railyard::report
