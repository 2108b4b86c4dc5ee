// What each figure of a summary is: its unit, which end of it is better, what it says.
#include <map>

#include "control/report/summary.h"

namespace railyard::report {
namespace {

using enum Unit;
using enum Better;

const std::map<std::string_view, FigureKind>& kinds() {
  constexpr bool kOfCompleted = true;
  static const std::map<std::string_view, FigureKind> all{
      {"completed",
       {kRatio, kHigher, false, "part of the flows with an end, and of the repeats of collectives, that are done"}},
      {"missing",
       {kBytes, kLower, false, "payload of flows that never arrived, or was wrong: loss that an application sees"}},
      {"goodput",
       {kBitsPerSecond, kHigher, false, "payload that arrived, each octet once, of all flows, first frame to last"}},
      {"goodput_part", {kRatio, kHigher, false, "goodput of the line rate of the NICs that flows end at"}},
      {"goodput_min", {kBitsPerSecond, kHigher, false, "of the flow that got least"}},
      {"goodput_p50", {kBitsPerSecond, kHigher, false, "of the median flow"}},
      {"algbw", {kBitsPerSecond, kHigher, kOfCompleted, "size over the median time of a collective"}},
      {"busbw",
       {kBitsPerSecond, kHigher, kOfCompleted, "algbw by the factor of nccl-tests: comparable with the line rate"}},
      {"collective_time", {kNanoseconds, kLower, kOfCompleted, "median repeat of the median collective"}},
      {"collective_max", {kNanoseconds, kLower, kOfCompleted, "longest repeat of any collective"}},
      {"utilisation", {kRatio, kHigher, kOfCompleted, "compute time over all time, of training steps"}},
      {"jain", {kRatio, kHigher, kOfCompleted, "Jain's index of the flows' goodputs: 1 is even"}},
      {"share_p50", {kRatio, kHigher, kOfCompleted, "goodput of what framing leaves, of the median flow"}},
      {"accepted", {kRatio, kHigher, false, "what arrives of what flows with a rate offer"}},
      {"initiation_p50",
       {kNanoseconds, kLower, false,
        "from nothing to the first packet's arrival: handshake of a QP, first packet of a PDC"}},
      {"fct_mean", {kNanoseconds, kLower, kOfCompleted, "flow completion time, of those that are complete"}},
      {"fct_p50", {kNanoseconds, kLower, kOfCompleted, "flow completion time, of those that are complete"}},
      {"fct_p99", {kNanoseconds, kLower, kOfCompleted, "flow completion time, of those that are complete"}},
      {"fct_max", {kNanoseconds, kLower, kOfCompleted, "flow completion time, of those that are complete"}},
      {"makespan", {kNanoseconds, kLower, kOfCompleted, "end of the last flow that is complete"}},
      {"slowdown_mean", {kRatio, kLower, kOfCompleted, "FCT against that on an empty fabric"}},
      {"slowdown_p50", {kRatio, kLower, kOfCompleted, "FCT against that on an empty fabric"}},
      {"slowdown_p99", {kRatio, kLower, kOfCompleted, "FCT against that on an empty fabric"}},
      {"latency_p50", {kNanoseconds, kLower, false, "packets of all flows, first octet sent to arrival"}},
      {"latency_p90", {kNanoseconds, kLower, false, "packets of all flows, first octet sent to arrival"}},
      {"latency_p99", {kNanoseconds, kLower, false, "packets of all flows, first octet sent to arrival"}},
      {"latency_p999", {kNanoseconds, kLower, false, "packets of all flows, first octet sent to arrival"}},
      {"latency_p9999", {kNanoseconds, kLower, false, "packets of all flows, first octet sent to arrival"}},
      {"latency_max", {kNanoseconds, kLower, false, "packets of all flows, first octet sent to arrival"}},
      {"lost", {kCount, kLower, false, "packets on the wire that neither arrived nor were trimmed"}},
      {"drops", {kCount, kLower, false, "frames that devices dropped, for any reason"}},
      {"retransmitted", {kCount, kLower, false, "packets sent again"}},
      {"retransmission_rate", {kRatio, kLower, false, "packets sent again, of all that were sent"}},
      {"out_of_order",
       {kCount, kLower, false,
        "RUD, ROD, selective repeat: packets taken while others before them were missing; RUDI, UUD and frames of the "
        "generator: packets behind a later one; go-back-N, which takes none of these: gaps answered by a NAK"}},
      {"trimmed", {kCount, kLower, false, "packets that switches sent on without their payload"}},
      {"trim_rate", {kRatio, kLower, false, "trimmed / (forwarded + trimmed + dropped), of the queues that trimmed"}},
      {"ecn_marked", {kCount, kNeither, false, "frames that switches marked CE"}},
      {"cnps", {kCount, kNeither, false, "congestion notification packets (RoCEv2)"}},
      {"xoff_sent", {kCount, kLower, false, "PFC frames with a pause time"}},
      {"paused", {kNanoseconds, kLower, false, "time that classes of ports were paused (PFC), all together"}},
      {"stalled", {kNanoseconds, kLower, false, "time that classes of ports waited for credits (CBFC), all together"}},
      {"held_back", {kCount, kLower, false, "classes of ports that were paused or waited for credits"}},
      {"llr_replays", {kCount, kNeither, false, "transmissions that the link repeated"}},
      {"llr_latency_mean", {kNanoseconds, kLower, false, "how much later a frame came that its link had repeated"}},
      {"llr_latency_max", {kNanoseconds, kLower, false, "how much later a frame came that its link had repeated"}},
      {"max_queue", {kBytes, kLower, false, "deepest single egress queue of a switch"}},
      {"peak_buffer",
       {kBytes, kLower, false, "most of the shared buffer in use at any time, of the switch where it was most"}},
      {"wire_bytes",
       {kBytes, kLower, false, "octets of all frames on all links, what was sent again and headers included"}},
      {"repair_after",
       {kNanoseconds, kLower, false, "from the first frame dropped or trimmed to the first packet sent again"}},
      {"convergence",
       {kNanoseconds, kLower, false,
        "from the last flow's start until all are within 10 % of the fair share; -: not before the first was done"}},
      {"off_fair_share",
       {kRatio, kLower, false,
        "how far from the fair share the farthest flow was, in the most even stretch that convergence asks for"}},
      {"max_utilisation", {kRatio, kNeither, false, "of the busiest link"}},
      {"max_over_mean",
       {kRatio, kLower, false, "octets of the most loaded of equal links against their mean: 1 is even"}},
      {"jain_link",
       {kRatio, kHigher, false, "Jain's index of the octets of equal links, where it was least: 1 is even"}},
      {"failed_flows", {kCount, kLower, false, "flows with a QP or PDC in error"}},
      {"deadlocks", {kCount, kLower, false, "PFC deadlocks, resolved ones included"}},
      {"failed_verdicts", {kCount, kLower, false, "verdicts that failed"}},
      {"packet_hops", {kCount, kNeither, false, "frames that left switches"}},
      {"cpu_seconds", {kSeconds, kNeither, false, "of the machine that ran it"}}};
  return all;
}

}  // namespace

FigureKind kind_of(std::string_view name) {
  if (const auto known = kinds().find(name); known != kinds().end()) return known->second;
  // By their path in the report: of a spread, what it is of says the unit.
  const bool is_path = name.starts_with('/');
  const bool of_completed = is_path && (name.find("/fct_ns") != name.npos || name.find("/slowdown") != name.npos ||
                                        name.find("/message_ns") != name.npos);
  if (is_path && (name.ends_with("/samples") || name.ends_with("/count"))) return {kCount, kNeither, of_completed};
  if (is_path)
    if (const std::size_t last = name.rfind('/'); !name.substr(last).contains('_')) name = name.substr(0, last);
  if (name.starts_with("fct_") || name.starts_with("latency_")) return {kNanoseconds, kLower};
  if (name.ends_with("_ns")) return {kNanoseconds, kNeither, of_completed};
  if (name.ends_with("_bps")) return {kBitsPerSecond, kNeither};
  if (name.ends_with("_bytes")) return {kBytes, kNeither};
  return {kCount, kNeither, of_completed};
}

std::vector<std::string> known_figures() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds()) names.emplace_back(name);
  return names;
}

}  // namespace railyard::report
