#include <algorithm>

#include "control/report/metrics/metric.h"
#include "control/report/report.h"

namespace railyard::report {
namespace {

using enum Unit;
using enum Better;
using Value = std::optional<double>;
using Totals = const RunTotals&;

constexpr bool kOfCompleted = true;
constexpr bool kOfAll = false;

// Who counts.
constexpr std::string_view kByReceiver = "the receiving NIC of each flow";
constexpr std::string_view kByAsker = "the NIC that posts the messages (generators: the receiver)";
constexpr std::string_view kByTransports = "the transports of all NICs";
constexpr std::string_view kBySwitches = "switches";
constexpr std::string_view kByDevices = "all devices";
constexpr std::string_view kByRanks = "the ranks";

// Over which interval.
constexpr std::string_view kOverGoodput = "the goodput interval of each flow";
constexpr std::string_view kOverFlow = "each flow, start to completion";
constexpr std::string_view kOverLoad = "the load interval";
constexpr std::string_view kOverRun = "the run, drain included";
constexpr std::string_view kOverIterations = "each iteration that completed";
constexpr std::string_view kOverRequests = "each request that completed";

Value spread_of(const std::vector<double>& values, double Spread::*member) {
  if (values.empty()) return std::nullopt;
  return Spread::of(values).*member;
}

Value ratio_or_none(double part, double all) { return all > 0 ? Value(part / all) : std::nullopt; }

template <std::uint64_t Percentiles::*member>
Value latency_at(Totals t) {
  if (t.report->latency_samples == 0) return std::nullopt;
  return static_cast<double>(t.report->latency_ns.*member);
}

LinkRetryCounters link_retry(Totals t) {
  LinkRetryCounters all;
  for (const PortReport& p : t.report->ports) all.add(p.counters.llr);
  return all;
}

Value link_retry_ns(Totals t, Duration late) {
  return link_retry(t).on ? Value(static_cast<double>(nanoseconds(late))) : std::nullopt;
}

Value transient(Totals t, std::optional<std::int64_t> (Transients::*of)() const) {
  if (!t.report->transients) return std::nullopt;
  const auto ns = ((*t.report->transients).*of)();
  return ns ? Value(static_cast<double>(*ns)) : std::nullopt;
}

constexpr std::string_view kTtftHelp = "inference: time to first token, from a request's arrival to the end of its first decode iteration; all jobs";
constexpr std::string_view kTpotHelp = "inference: time per output token, of a request's tokens after the first; all jobs";
constexpr std::string_view kRequestHelp = "inference: from a request's arrival to its last token; all jobs";
constexpr std::string_view kKvHelp =
    "inference: from the first byte of a request's KV cache that is sent until all of it is at the decode ranks; all jobs";

constexpr std::string_view kLatencyHelp =
    "packet latency of all flows: first byte sent to arrival of the whole packet, every packet with payload that "
    "arrived";

constexpr Metric kMetrics[] = {
    {"goodput", kBitsPerSecond, kHigher, kOfAll,
     "payload delivered by all flows, each byte once: sum of flows' goodput_bytes x 8 / interval",
     "first flow's start to the end of the last goodput interval", kByReceiver,
     [](Totals t) {
       return t.goodput_ns > 0
                  ? ratio_or_none(8e9 * static_cast<double>(t.goodput_bytes), static_cast<double>(t.goodput_ns))
                  : Value();
     }},
    {"goodput_min", kBitsPerSecond, kHigher, kOfAll, "goodput of the slowest flow", kOverGoodput, kByReceiver,
     [](Totals t) { return spread_of(t.goodput, &Spread::min); }},
    {"goodput_p50", kBitsPerSecond, kHigher, kOfAll, "goodput of the median flow", kOverGoodput, kByReceiver,
     [](Totals t) { return spread_of(t.goodput, &Spread::p50); }},
    {"completed", kShare, kHigher, kOfAll,
     "completed / all finite flows and collective iterations", kOverRun, kByAsker,
     [](Totals t) { return ratio_or_none(t.complete, t.with_end); }},
    {"delivered", kShare, kHigher, kOfAll,
     "payload delivered / payload asked for, all flows; an endless flow asks for its limit_bps over its goodput "
     "interval",
     kOverGoodput, kByReceiver, [](Totals t) { return ratio_or_none(t.delivered_bytes, t.asked_bytes); }},
    {"jain", kShare, kHigher, kOfAll,
     "Jain's index of the flows' goodputs: 1 is even, 1/n: one flow has all; not measured if none has anything",
     kOverGoodput, kByReceiver,
     [](Totals t) {
       const double index = jain_index(t.goodput);
       return index > 0 ? Value(index) : Value();
     }},
    {"goodput_part", kShare, kHigher, kOfAll, "goodput / line rates of the NICs that flows end at", "as goodput",
     kByReceiver,
     [](Totals t) {
       return t.goodput_ns > 0
                  ? ratio_or_none(8e9 * static_cast<double>(t.goodput_bytes) / static_cast<double>(t.goodput_ns),
                                  t.sink_rates)
                  : Value();
     }},
    {"accepted", kShare, kHigher, kOfAll,
     "sum of arrival_bps / sum of offered_bps, flows with a rate; no flow counts for more than it offers",
     "each flow, first arrival to its last or to the end of its goodput interval", kByReceiver,
     [](Totals t) { return ratio_or_none(t.accepted_bps, t.offered_bps); }},
    {"initiation_p50", kNanoseconds, kLower, kOfAll,
     "time to the first packet's arrival, median RoCE or UET flow; for QPs including the connection handshake",
     "flow start to first arrival", kByReceiver, [](Totals t) { return spread_of(t.initiation, &Spread::p50); }},
    {"share_p50", kShare, kHigher, kOfAll, "goodput / limit_bps (framing limit), median flow", kOverGoodput,
     kByReceiver, [](Totals t) { return spread_of(t.share, &Spread::p50); }},
    {"fct_mean", kNanoseconds, kLower, kOfCompleted, "flow completion time, mean over completed flows", kOverFlow,
     kByAsker, [](Totals t) { return spread_of(t.fct, &Spread::mean); }},
    {"fct_p50", kNanoseconds, kLower, kOfCompleted, "flow completion time, median", kOverFlow, kByAsker,
     [](Totals t) { return spread_of(t.fct, &Spread::p50); }},
    {"fct_p99", kNanoseconds, kLower, kOfCompleted, "flow completion time, 99th percentile", kOverFlow, kByAsker,
     [](Totals t) { return spread_of(t.fct, &Spread::p99); }},
    {"fct_max", kNanoseconds, kLower, kOfCompleted, "flow completion time, longest", kOverFlow, kByAsker,
     [](Totals t) { return spread_of(t.fct, &Spread::max); }},
    {"makespan", kNanoseconds, kLower, kOfCompleted, "completion of the last flow", "start of the run to then",
     kByAsker, [](Totals t) { return t.fct.empty() ? Value() : t.makespan_ns; }},
    {"slowdown_mean", kRatio, kLower, kOfCompleted, "FCT / FCT on an empty fabric, mean", kOverFlow, kByAsker,
     [](Totals t) { return spread_of(t.slowdown, &Spread::mean); }},
    {"slowdown_p50", kRatio, kLower, kOfCompleted, "FCT / FCT on an empty fabric, median", kOverFlow, kByAsker,
     [](Totals t) { return spread_of(t.slowdown, &Spread::p50); }},
    {"slowdown_p99", kRatio, kLower, kOfCompleted, "FCT / FCT on an empty fabric, 99th percentile", kOverFlow, kByAsker,
     [](Totals t) { return spread_of(t.slowdown, &Spread::p99); }},
    {"latency_p50", kNanoseconds, kLower, kOfAll, kLatencyHelp, kOverRun, kByReceiver, latency_at<&Percentiles::p50>},
    {"latency_p90", kNanoseconds, kLower, kOfAll, kLatencyHelp, kOverRun, kByReceiver, latency_at<&Percentiles::p90>},
    {"latency_p99", kNanoseconds, kLower, kOfAll, kLatencyHelp, kOverRun, kByReceiver, latency_at<&Percentiles::p99>},
    {"latency_p999", kNanoseconds, kLower, kOfAll, kLatencyHelp, kOverRun, kByReceiver, latency_at<&Percentiles::p999>},
    {"latency_p9999", kNanoseconds, kLower, kOfAll, kLatencyHelp, kOverRun, kByReceiver,
     latency_at<&Percentiles::p9999>},
    {"latency_max", kNanoseconds, kLower, kOfAll, kLatencyHelp, kOverRun, kByReceiver, latency_at<&Percentiles::max>},
    {"collective_time", kNanoseconds, kLower, kOfCompleted,
     "time of an iteration, first rank's start to last rank's result: median iteration of the median collective",
     kOverIterations, kByRanks, [](Totals t) { return spread_of(t.collective_time, &Spread::p50); }},
    {"collective_max", kNanoseconds, kLower, kOfCompleted, "longest iteration of any collective", kOverIterations,
     kByRanks, [](Totals t) { return t.longest_iteration_ns > 0 ? Value(t.longest_iteration_ns) : std::nullopt; }},
    {"algbw", kBitsPerSecond, kHigher, kOfCompleted, "size x 8 / median time, median collective", kOverIterations,
     kByRanks, [](Totals t) { return spread_of(t.algbw, &Spread::p50); }},
    {"busbw", kBitsPerSecond, kHigher, kOfCompleted,
     "algbw x the operation's nccl-tests factor: comparable with the line rate", kOverIterations, kByRanks,
     [](Totals t) { return spread_of(t.busbw, &Spread::p50); }},
    {"utilisation", kShare, kHigher, kOfCompleted, "compute time / (compute + wait) of training steps and traces, median job; a rank waits until its result is there, in a trace "
     "until all ranks are done",
     kOverIterations, kByRanks, [](Totals t) { return spread_of(t.job_utilisation, &Spread::p50); }},
    {"efficiency", kShare, kHigher, kOfCompleted, "time of a step if messages took no time / its median time, median job or trace",
     kOverIterations, kByRanks, [](Totals t) { return spread_of(t.job_efficiency, &Spread::p50); }},
    {"mfu", kShare, kHigher, kOfCompleted, "model FLOPs utilisation: the model's operations of a step / what all GPUs can do in its "
     "median time, median job", kOverIterations, kByRanks, [](Totals t) { return spread_of(t.job_mfu, &Spread::p50); }},
    {"tokens_per_second", kCount, kHigher, kOfCompleted, "tokens of a step / its median time, median job; of inference output tokens / time of all requests",
     kOverIterations, kByRanks, [](Totals t) { return spread_of(t.job_tokens, &Spread::p50); }},
    {"requests_per_second", kCount, kHigher, kOfCompleted, "inference: requests / time from the first arrival to the last token, median job",
     kOverRequests, kByRanks, [](Totals t) { return spread_of(t.job_requests, &Spread::p50); }},
    {"ttft_p50", kNanoseconds, kLower, kOfCompleted, kTtftHelp, kOverRequests, kByRanks, [](Totals t) { return spread_of(t.ttft, &Spread::p50); }},
    {"ttft_p99", kNanoseconds, kLower, kOfCompleted, kTtftHelp, kOverRequests, kByRanks, [](Totals t) { return spread_of(t.ttft, &Spread::p99); }},
    {"tpot_p50", kNanoseconds, kLower, kOfCompleted, kTpotHelp, kOverRequests, kByRanks, [](Totals t) { return spread_of(t.tpot, &Spread::p50); }},
    {"tpot_p99", kNanoseconds, kLower, kOfCompleted, kTpotHelp, kOverRequests, kByRanks, [](Totals t) { return spread_of(t.tpot, &Spread::p99); }},
    {"request_p50", kNanoseconds, kLower, kOfCompleted, kRequestHelp, kOverRequests, kByRanks,
     [](Totals t) { return spread_of(t.request_latency, &Spread::p50); }},
    {"request_p99", kNanoseconds, kLower, kOfCompleted, kRequestHelp, kOverRequests, kByRanks,
     [](Totals t) { return spread_of(t.request_latency, &Spread::p99); }},
    {"kv_transfer_p50", kNanoseconds, kLower, kOfCompleted, kKvHelp, kOverRequests, kByRanks,
     [](Totals t) { return spread_of(t.kv_transfer, &Spread::p50); }},
    {"kv_transfer_p99", kNanoseconds, kLower, kOfCompleted, kKvHelp, kOverRequests, kByRanks,
     [](Totals t) { return spread_of(t.kv_transfer, &Spread::p99); }},
    {"lost", kCount, kLower, kOfAll,
     "payload packets sent that did not arrive, not even trimmed, and are not in flight", kOverRun,
     kByReceiver, [](Totals t) { return t.received ? Value(t.lost) : std::nullopt; }},
    {"drops", kCount, kLower, kOfAll, "frames dropped by devices, for any reason; without frames lost on links",
     kOverRun, kByDevices, [](Totals t) { return Value(t.drops); }},
    {"retransmitted", kCount, kLower, kOfAll, "packets retransmitted", kOverRun, kByTransports,
     [](Totals t) { return Value(t.retransmitted); }},
    {"out_of_order", kCount, kLower, kOfAll,
     "RUD, ROD, selective repeat: packets accepted while earlier ones were missing; RUDI, UUD, generator: packets "
     "received after a later one; go-back-N accepts no such packet: gaps answered by a NAK",
     kOverRun, kByReceiver, [](Totals t) { return t.received ? Value(t.out_of_order) : std::nullopt; }},
    {"trimmed", kCount, kLower, kOfAll, "frames trimmed by switches: forwarded without payload", kOverRun,
     kBySwitches, [](Totals t) { return Value(t.trimmed); }},
    {"ecn_marked", kCount, kNeither, kOfAll, "frames marked CE by switches", kOverRun, kBySwitches,
     [](Totals t) { return Value(t.ecn_marked); }},
    {"cnps", kCount, kNeither, kOfAll, "congestion notification packets received (RoCEv2)", kOverRun, kByTransports,
     [](Totals t) { return Value(t.cnps); }},
    {"xoff_sent", kCount, kLower, kOfAll, "PFC frames with a pause time sent, refreshes included", kOverRun, kByDevices,
     [](Totals t) { return Value(t.xoff_sent); }},
    {"paused", kNanoseconds, kLower, kOfAll, "time that port-classes were paused by PFC, summed", kOverRun, kByDevices,
     [](Totals t) { return Value(t.paused_ns); }},
    {"stalled", kNanoseconds, kLower, kOfAll, "time that port-classes waited for credits (CBFC), summed", kOverRun,
     kByDevices, [](Totals t) { return Value(t.stalled_ns); }},
    {"held_back", kCount, kLower, kOfAll, "port-classes that were paused or waited for credits", kOverRun, kByDevices,
     [](Totals t) { return Value(t.held_back); }},
    {"max_queue", kBytes, kLower, kOfAll, "deepest egress queue of a switch (one class of one port)", kOverRun,
     kBySwitches, [](Totals t) { return Value(t.max_queue); }},
    {"peak_buffer", kBytes, kLower, kOfAll, "most shared buffer in use at one switch", kOverRun, kBySwitches,
     [](Totals t) { return Value(static_cast<double>(t.report->peak_buffer_bytes)); }},
    {"wire_bytes", kBytes, kLower, kOfAll,
     "frames sent on all links with headers and FCS, retransmissions included; no preamble or gap", kOverRun,
     kByDevices, [](Totals t) { return Value(t.wire_bytes); }},
    {"missing", kBytes, kLower, kOfAll,
     "payload of finite flows that did not arrive, or arrived corrupted", kOverRun, kByReceiver,
     [](Totals t) { return t.missing; }},
    {"retransmission_rate", kShare, kLower, kOfAll,
     "retransmitted / packets sent by the NICs that retransmit (RoCE READs: requests)", kOverRun, kByTransports,
     [](Totals t) { return ratio_or_none(t.retransmitted, t.requester_packets); }},
    {"trim_rate", kShare, kLower, kOfAll, "trimmed / (forwarded + trimmed + dropped), of the queues that trimmed",
     kOverRun, kBySwitches, [](Totals t) { return ratio_or_none(t.trimmed, t.at_trimming_queues); }},
    {"repair_after", kNanoseconds, kLower, kOfAll,
     "time from the first frame dropped or trimmed to the first retransmission (--transients)", "once", kByTransports,
     [](Totals t) { return transient(t, &Transients::repair_ns); }},
    {"convergence", kNanoseconds, kLower, kOfAll,
     "time from the last flow's start until all are within 10 % of the fair share (--transients); -: not reached "
     "before the first flow completed",
     "once", kByReceiver, [](Totals t) { return transient(t, &Transients::convergence_ns); }},
    {"off_fair_share", kRatio, kLower, kOfAll,
     "largest deviation of a flow from the fair share, in the most even period of the length that convergence needs "
     "(--transients)",
     "that period", kByReceiver,
     [](Totals t) { return t.report->transients ? t.report->transients->nearest_share() : Value(); }},
    {"llr_replays", kCount, kNeither, kOfAll, "replays of link-level retry (LLR)", kOverRun, kByDevices,
     [](Totals t) { return link_retry(t).on ? Value(static_cast<double>(link_retry(t).replays)) : std::nullopt; }},
    {"llr_latency_mean", kNanoseconds, kLower, kOfAll, "delay that LLR added to a replayed frame, mean", kOverRun,
     kByDevices, [](Totals t) { return link_retry_ns(t, link_retry(t).mean_late()); }},
    {"llr_latency_max", kNanoseconds, kLower, kOfAll, "delay that LLR added to a replayed frame, maximum", kOverRun,
     kByDevices, [](Totals t) { return link_retry_ns(t, link_retry(t).most_late); }},
    {"max_utilisation", kShare, kNeither, kOfAll, "utilisation of the busiest link direction",
     kOverLoad, kByDevices, [](Totals t) { return Value(t.max_utilisation); }},
    {"max_over_mean", kRatio, kLower, kOfAll,
     "bytes of the most loaded of equal next hops / their mean, worst group: 1 is even", kOverRun, kBySwitches,
     [](Totals t) { return t.max_over_mean; }},
    {"jain_link", kShare, kHigher, kOfAll, "Jain's index of the bytes of equal next hops, worst group: 1 is even",
     kOverRun, kBySwitches, [](Totals t) { return t.jain_link; }},
    {"failed_flows", kCount, kLower, kOfAll, "flows with a QP or PDC in error", kOverRun, kByTransports,
     [](Totals t) { return Value(t.failed_flows); }},
    {"deadlocks", kCount, kLower, kOfAll, "deadlocks, resolved ones included: queues that wait in a circle for the end of a pause or for credits (run.deadlock)", kOverRun, kByDevices,
     [](Totals t) {
       return t.report->watched_for_deadlocks ? Value(static_cast<double>(t.report->deadlocks.size())) : std::nullopt;
     }},
    {"failed_verdicts", kCount, kLower, kOfAll, "verdicts that failed", kOverRun, "the report",
     [](Totals t) {
       const std::vector<Verdict> all = t.report->verdicts();
       return Value(static_cast<double>(std::ranges::count(all, Verdict::Answer::kFail, &Verdict::answer)));
     }},
    {"packet_hops", kCount, kNeither, kOfAll, "frames sent by switches, without MAC control", kOverRun,
     kBySwitches, [](Totals t) { return Value(static_cast<double>(t.report->engine.packet_hops)); }},
    {"cpu_seconds", kSeconds, kNeither, kOfAll, "CPU time of the emulator", kOverRun, "the operating system",
     [](Totals t) { return Value(t.report->engine.cpu_seconds); }}};

}  // namespace

std::string_view word(Unit unit) {
  switch (unit) {
    case kNanoseconds:
      return "ns";
    case kBitsPerSecond:
      return "bit/s";
    case kBytes:
      return "bytes";
    case kCount:
      return "count";
    case kRatio:
      return "ratio";
    case kShare:
      return "0..1";
    case kSeconds:
      return "s";
  }
  return "";
}

std::span<const Metric> run_metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  const auto at = std::ranges::find(kMetrics, name, &Metric::name);
  return at == std::end(kMetrics) ? nullptr : at;
}

}  // namespace railyard::report
