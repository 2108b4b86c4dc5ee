// What the figures of a run are computed from: sums over its flows, collectives and ports, made once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/report/percentiles.h"

namespace railyard::report {

struct Report;

struct RunTotals {
  const Report* report = nullptr;

  // Of flows that were asked to send, and are measured where they end.
  std::vector<double> goodput, share, fct, slowdown, initiation;  // one value per flow that has it
  std::uint64_t goodput_bytes = 0;                                // delivered by all of them, and ...
  std::int64_t goodput_ns = 0;                                    // ... the time from the first start to the last end
  double sink_rates = 0;                                          // bit/s, of the NICs that they end at
  double asked_bytes = 0;                                         // what they could have delivered at their limits
  double delivered_bytes = 0;                                     // what they have delivered of it
  double offered_bps = 0, accepted_bps = 0;                       // of flows with a rate
  double makespan_ns = 0;                                         // until the last flow that is complete; 0: none is
  std::optional<double> missing;                                  // octets; nothing: no flow has an end

  double with_end = 0, complete = 0;  // flows with an end, and iterations of collectives

  // Of collectives; median of each.
  std::vector<double> collective_time, algbw, busbw, job_utilisation, job_efficiency, job_mfu, job_tokens, job_requests;
  // Of inference: of each request, ns.
  std::vector<double> ttft, tpot, request_latency, kv_transfer;
  double longest_iteration_ns = 0;

  bool received = true;  // something counts what arrives: there are no flows, or one of them is measured

  // Packets of transports and generators, frames of ports.
  double failed_flows = 0, lost = 0, retransmitted = 0, requester_packets = 0, out_of_order = 0, cnps = 0;
  double drops = 0, wire_bytes = 0, ecn_marked = 0, trimmed = 0, at_trimming_queues = 0;
  double xoff_sent = 0, paused_ns = 0, stalled_ns = 0, held_back = 0, max_queue = 0;
  std::optional<double> max_over_mean, jain_link;  // of groups of next hops
  double max_utilisation = 0;

  explicit RunTotals(const Report& r);

 private:
  void add_flows();
  void add_collectives();
  void add_ports();
};

}  // namespace railyard::report
