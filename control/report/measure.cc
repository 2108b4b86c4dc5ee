#include "control/report/measure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/report/compare.h"
#include "control/report/report.h"
#include "control/spec/fault_place.h"
#include "control/spec/select.h"

namespace railyard::report {
namespace {

using enum Unit;
using enum Combine;

double number(std::uint64_t n) { return static_cast<double>(n); }

// ---- Tables --------------------------------------------------------------------------------------------------------

struct ClassMeasure : MeasureKind {
  double (*of)(const PortReport&, std::size_t priority);
};
template <auto member>
double count_of(const PortReport& p, std::size_t k) {
  return number(p.counters.classes[k].*member);
}
template <auto member>
double time_of(const PortReport& p, std::size_t k) {
  return number(static_cast<std::uint64_t>(nanoseconds(p.counters.classes[k].*member)));
}
const ClassMeasure kOfClasses[] = {
    {{"rx_packets", kCount, kSum, "frames received"}, count_of<&ClassCounters::rx_packets>},
    {{"rx_bytes", kBytes, kSum, "bytes received, with FCS"}, count_of<&ClassCounters::rx_octets>},
    {{"tx_packets", kCount, kSum, "frames sent"}, count_of<&ClassCounters::tx_packets>},
    {{"tx_bytes", kBytes, kSum, "bytes sent, with FCS"}, count_of<&ClassCounters::tx_octets>},
    {{"ecn_marked", kCount, kSum, "frames marked CE at egress"}, count_of<&ClassCounters::ecn_marked>},
    {{"trimmed", kCount, kSum, "frames trimmed at egress"}, count_of<&ClassCounters::trimmed>},
    {{"xoff_sent", kCount, kSum, "PFC frames with a pause time sent"}, count_of<&ClassCounters::xoff_sent>},
    {{"xoff_received", kCount, kSum, "PFC frames with a pause time received"}, count_of<&ClassCounters::xoff_received>},
    {{"paused", kNanoseconds, kSum, "time paused by PFC"}, time_of<&ClassCounters::paused>},
    {{"pause_share", kShare, kMax, "time paused by PFC / the load interval (metrics.md)"},
     [](const PortReport& p, std::size_t k) { return p.pause_share[k]; }},
    {{"stalled", kNanoseconds, kSum, "time that the first frame waited for credits (CBFC)"},
     time_of<&ClassCounters::stalled>},
    {{"max_queue", kBytes, kMax, "deepest egress queue"}, count_of<&ClassCounters::max_depth_octets>},
    {{"storms_detected", kCount, kSum, "PFC storms that the watchdog detected"},
     count_of<&ClassCounters::storms_detected>},
};

struct PortMeasure : MeasureKind {
  double (*of)(const PortReport&);
};
const PortMeasure kOfPorts[] = {
    {{"lost_on_link", kCount, kSum, "frames lost on the link to this port: link down, or a link fault"},
     [](const PortReport& p) { return number(p.counters.lost); }},
    {{"lost_to_faults", kCount, kSum, "frames that a link fault dropped; part of lost_on_link"},
     [](const PortReport& p) { return number(p.counters.lost_to_faults); }},
    {{"duplicated", kCount, kSum, "frames that a link fault duplicated"},
     [](const PortReport& p) { return number(p.counters.duplicated); }},
    {{"misclassified", kCount, kSum, "frames that a fault put into the wrong class"},
     [](const PortReport& p) { return number(p.counters.misclassified); }},
    {{"utilisation", kShare, kMax, "utilisation of the sending direction in the load interval (metrics.md)"},
     [](const PortReport& p) { return p.utilisation; }},
    {{"llr_replays", kCount, kSum, "replays of link-level retry (LLR)"},
     [](const PortReport& p) { return number(p.counters.llr.replays); }},
};

struct GroupMeasure : MeasureKind {
  double (*of)(const PathGroupReport&);
};
const GroupMeasure kOfGroups[] = {
    {{"jain_link", kShare, kMin, "Jain's index of the bytes of equal next hops: 1 is even"},
     [](const PathGroupReport& g) { return g.jain_index(); }},
    {{"max_over_mean", kRatio, kMax, "bytes of the most loaded of equal next hops / their mean"},
     [](const PathGroupReport& g) { return g.max_over_mean(); }},
};

constexpr MeasureKind kDrops{
    .name = "drops", .meaning = "frames dropped, for any reason or for the reason in brackets", .has_reasons = true};

using Maybe = std::optional<double>;
struct FlowMeasure : MeasureKind {
  Maybe (*of)(const FlowReport&);
  // Of all flows of a traffic together, where that is not what `combine` makes of the flows'. nullptr: it is.
  Maybe (*together)(const TrafficReport&) = nullptr;
};
Maybe fct_of(const FlowReport& f) { return f.fct_ns ? Maybe(static_cast<double>(*f.fct_ns)) : std::nullopt; }
template <std::uint64_t Percentiles::*member>
Maybe latency_of(const FlowReport& f) {
  return f.latency_ns.known() ? Maybe(number(f.latency_ns.*member)) : std::nullopt;
}
template <std::uint64_t Percentiles::*member>
Maybe latency_together(const TrafficReport& t) {
  return t.latency_samples > 0 ? Maybe(number(t.latency_ns.*member)) : std::nullopt;
}
// What only the receiver counts.
Maybe received(const FlowReport& f, std::uint64_t n) { return f.measured ? Maybe(number(n)) : std::nullopt; }
Maybe share_of(std::uint64_t part, std::uint64_t all) { return all > 0 ? Maybe(ratio_of(part, all)) : std::nullopt; }
template <class T>
Maybe of_roce(const FlowReport& f, T RoceReport::*member) {
  return f.roce ? Maybe(static_cast<double>((*f.roce).*member)) : std::nullopt;
}
const FlowMeasure kOfFlows[] = {
    {{"goodput", kBitsPerSecond, kTogether, "payload delivered, each byte once / time (metrics.md)"},
     [](const FlowReport& f) { return f.goodput_bps(); }},
    {{"goodput_min", kBitsPerSecond, kMin, "goodput of the slowest flow"},
     [](const FlowReport& f) { return f.goodput_bps(); }},
    {{"goodput_p50", kBitsPerSecond, kMedian, "goodput of the median flow"},
     [](const FlowReport& f) { return f.goodput_bps(); }},
    {{"share", kShare, kMin, "lowest of the flows' goodput / framing limit"},
     [](const FlowReport& f) { return f.share(); }},
    {{"ce_share", kShare, kMax, "packets with CE / packets that arrived"},
     [](const FlowReport& f) { return f.ce_share(); },
     [](const TrafficReport& t) { return share_of(t.marked, t.arrived); }},
    {{"retransmission_share", kShare, kMax, "packets retransmitted / packets sent"},
     [](const FlowReport& f) { return f.retransmission_share(); },
     [](const TrafficReport& t) { return share_of(t.retransmitted, t.requester_packets); }},
    {{"completed", kShare, kMean, "completed / all finite flows"},
     [](const FlowReport& f) {
       return f.asked_bytes > 0 && f.was_offered ? Maybe(f.fct_ns ? 1.0 : 0.0) : std::nullopt;
     }},
    {{"failed_flows", kCount, kSum, "flows with a QP or PDC in error"},
     [](const FlowReport& f) { return Maybe(f.failed() ? 1.0 : 0.0); }},
    {{"fct_mean", kNanoseconds, kMean, "flow completion time, mean"}, fct_of},
    {{"fct_p50", kNanoseconds, kMedian, "flow completion time, median"}, fct_of},
    {{"fct_p99", kNanoseconds, kP99, "flow completion time, 99th percentile"}, fct_of},
    {{"fct_max", kNanoseconds, kMax, "flow completion time, longest"}, fct_of},
    {{"slowdown_max", kRatio, kMax, "largest FCT / FCT on an empty fabric"},
     [](const FlowReport& f) { return f.slowdown(); }},
    {{"latency_p50", kNanoseconds, kMax, "packet latency, median"},
     latency_of<&Percentiles::p50>,
     latency_together<&Percentiles::p50>},
    {{"latency_p99", kNanoseconds, kMax, "packet latency, 99th percentile"},
     latency_of<&Percentiles::p99>,
     latency_together<&Percentiles::p99>},
    {{"latency_p999", kNanoseconds, kMax, "packet latency, 99.9th percentile"},
     latency_of<&Percentiles::p999>,
     latency_together<&Percentiles::p999>},
    {{"latency_max", kNanoseconds, kMax, "packet latency, longest"}, latency_of<&Percentiles::max>},
    {{"packets", kCount, kSum, "payload packets sent, retransmissions included"},
     [](const FlowReport& f) { return Maybe(number(f.packets)); }},
    {{"delivered_bytes", kBytes, kSum, "payload delivered, each byte once, drain included"},
     [](const FlowReport& f) { return received(f, f.delivered_bytes); }},
    {{"lost", kCount, kSum, "packets that neither arrived nor were trimmed"},
     [](const FlowReport& f) { return received(f, f.lost); }},
    {{"corrupted", kCount, kSum, "packets or messages that arrived corrupted"},
     [](const FlowReport& f) { return received(f, f.corrupted); }},
    {{"retransmitted", kCount, kSum, "packets retransmitted"},
     [](const FlowReport& f) { return Maybe(number(f.retransmitted())); }},
    {{"out_of_order", kCount, kSum, "packets accepted out of order; go-back-N: gaps answered by a NAK"},
     [](const FlowReport& f) { return received(f, f.out_of_order()); }},
    {{"ecn_marked", kCount, kSum, "packets that arrived with CE"},
     [](const FlowReport& f) { return received(f, f.marked); }},
    {{"trimmed", kCount, kSum, "packets that arrived without their payload"},
     [](const FlowReport& f) { return received(f, f.trimmed); }},
    {{"cnps", kCount, kSum, "CNPs that the sender received (RoCEv2)"},
     [](const FlowReport& f) {
       return f.roce ? Maybe(number(f.roce->cnp_handled + f.roce->cnp_ignored)) : std::nullopt;
     }},
    {{"packet_seq_err", kCount, kSum, "NAKs for a sequence gap that the sender received (RoCEv2)"},
     [](const FlowReport& f) { return of_roce(f, &RoceReport::packet_seq_err); }},
    {{"local_ack_timeout_err", kCount, kSum, "ACK timeouts of the sender (RoCEv2)"},
     [](const FlowReport& f) { return of_roce(f, &RoceReport::local_ack_timeout_err); }},
    {{"out_of_buffer", kCount, kSum, "RNR NAKs that the receiver sent (RoCEv2)"},
     [](const FlowReport& f) { return of_roce(f, &RoceReport::out_of_buffer); }},
};

// The 99th percentile.
Maybe of_requests(const CollectiveReport& c, double InferenceFigures::Request::*of) {
  if (!c.figures || !c.figures->inference || c.figures->inference->requests.empty()) return std::nullopt;
  return c.figures->inference->spread(of).p99;
}

struct CollectiveMeasure : MeasureKind {
  Maybe (*of)(const CollectiveReport&);
};
const CollectiveMeasure kOfCollectives[] = {
    {{"busbw", kBitsPerSecond, kMin, "algbw x the operation's nccl-tests factor"},
     [](const CollectiveReport& c) { return c.has_bandwidth() ? Maybe(c.busbw_bps) : std::nullopt; }},
    {{"algbw", kBitsPerSecond, kMin, "size x 8 / median time"},
     [](const CollectiveReport& c) { return c.has_bandwidth() ? Maybe(c.algbw_bps) : std::nullopt; }},
    {{"collective_time", kNanoseconds, kMax, "median iteration"},
     [](const CollectiveReport& c) { return c.median_ns ? Maybe(static_cast<double>(*c.median_ns)) : std::nullopt; }},
    {{"collective_max", kNanoseconds, kMax, "longest iteration"},
     [](const CollectiveReport& c) { return c.max_ns ? Maybe(static_cast<double>(*c.max_ns)) : std::nullopt; }},
    {{"utilisation", kShare, kMin, "compute time / (compute + wait) of training steps"},
     [](const CollectiveReport& c) { return c.job ? Maybe(c.job->utilisation) : std::nullopt; }},
    {{"mfu", kShare, kMin, "model FLOPs of a step / what all GPUs can do in the median step, of jobs"},
     [](const CollectiveReport& c) { return c.figures && c.figures->training ? c.figures->training->mfu : std::nullopt; }},
    {{"efficiency", kShare, kMin, "step with messages that take no time / median step, of jobs and traces"},
     [](const CollectiveReport& c) { return c.figures ? c.figures->efficiency : std::nullopt; }},
    {{"ettr", kShare, kMin, "effective training time ratio of jobs with storage or failures: steps that count x ordinary step / time of all steps"},
     [](const CollectiveReport& c) { return c.storage ? c.storage->ettr : std::nullopt; }},
    {{"ttft_p99", kNanoseconds, kMax, "time to first token of inference, 99th percentile of requests"},
     [](const CollectiveReport& c) { return of_requests(c, &InferenceFigures::Request::ttft_ns); }},
    {{"tpot_p99", kNanoseconds, kMax, "time per output token of inference, 99th percentile of requests"},
     [](const CollectiveReport& c) {
       return c.figures && c.figures->inference && c.figures->inference->tpot().count > 0 ? Maybe(c.figures->inference->tpot().p99)
                                                                                           : std::nullopt;
     }},
    {{"request_p99", kNanoseconds, kMax, "latency of inference requests to the last token, 99th percentile"},
     [](const CollectiveReport& c) { return of_requests(c, &InferenceFigures::Request::latency_ns); }},
    {{"kv_transfer_p99", kNanoseconds, kMax, "KV cache transfer of inference requests, 99th percentile"},
     [](const CollectiveReport& c) { return of_requests(c, &InferenceFigures::Request::kv_ns); }},
    {{"completed", kShare, kMean, "completed / all iterations"},
     [](const CollectiveReport& c) -> Maybe {
       if (c.iterations.empty()) return std::nullopt;
       return static_cast<double>(
                  std::ranges::count_if(c.iterations, [](const auto& i) { return i.time_ns.has_value(); })) /
              static_cast<double>(c.iterations.size());
     }},
    {{"wrong_bytes", kBytes, kSum, "bytes of results that are wrong"},
     [](const CollectiveReport& c) { return Maybe(number(c.wrong_bytes)); }},
    {{"packets", kCount, kSum, "packets sent"}, [](const CollectiveReport& c) { return Maybe(number(c.packets)); }},
    {{"retransmitted", kCount, kSum, "packets retransmitted"},
     [](const CollectiveReport& c) { return Maybe(number(c.retransmitted_packets)); }},
    {{"out_of_order", kCount, kSum, "packets accepted while earlier ones were missing"},
     [](const CollectiveReport& c) { return Maybe(number(c.out_of_order)); }},
    {{"ecn_marked", kCount, kSum, "packets that arrived with CE"},
     [](const CollectiveReport& c) { return Maybe(number(c.ecn_marked)); }},
    {{"cnps", kCount, kSum, "CNPs that senders received (RoCEv2)"},
     [](const CollectiveReport& c) { return Maybe(number(c.cnp_handled)); }},
    {{"packet_seq_err", kCount, kSum, "NAKs for a sequence gap that senders received (RoCEv2)"},
     [](const CollectiveReport& c) { return Maybe(number(c.packet_seq_err)); }},
    {{"local_ack_timeout_err", kCount, kSum, "ACK timeouts of senders (RoCEv2)"},
     [](const CollectiveReport& c) { return Maybe(number(c.local_ack_timeout_err)); }},
};

template <class T, std::size_t n>
const T* named(const T (&table)[n], std::string_view name) {
  const T* const found = std::ranges::find(table, name, &T::name);
  return found == std::end(table) ? nullptr : found;
}

template <class T, std::size_t n>
void add_kinds(const T (&table)[n], std::vector<MeasureKind>& out, CountedAt at = CountedAt::kClass) {
  for (MeasureKind kind : table) {
    kind.at = at;
    out.push_back(kind);
  }
}

// ---- Several as one ------------------------------------------------------------------------------------------------

class Several {
 public:
  Several(Unit unit, Combine how) : unit_(unit), how_(how) {}

  void add(double value, const std::string& where) {
    values_.push_back(value);
    const bool less_is_worse = how_ == kMin || how_ == kTogether || (how_ == kMean && unit_ == kShare);
    if (values_.size() > 1 && (less_is_worse ? value >= most_ : value <= most_)) return;
    most_ = value;
    where_ = where;
  }

  Measured result() {
    if (values_.empty()) return {std::nullopt, unit_, ""};
    switch (how_) {
      case kSum:
        return {std::accumulate(values_.begin(), values_.end(), 0.0), unit_, most_ == 0 ? std::string() : where_};
      case kMax:
      case kMin:
      case kTogether:
        return {most_, unit_, where_};
      default:
        break;
    }
    const Spread spread = Spread::of(std::move(values_));
    // No single one has a mean or a percentile; of shares that should be whole, one that is not is at fault.
    const bool at_fault = how_ == kMean && unit_ == kShare && most_ < 1;
    return {how_ == kMean     ? spread.mean
            : how_ == kMedian ? spread.p50
                              : spread.p99,
            unit_, at_fault ? where_ : std::string()};
  }

 private:
  Unit unit_;
  Combine how_;
  std::vector<double> values_;
  double most_ = 0;
  std::string where_;
};

std::string name_of(const PortReport& p) { return fmt::format("{}:{}", p.node, p.port); }

bool is_at(const PortReport& p, const std::optional<spec::FaultPlace>& place) {
  return !place || (spec::matches(place->node, p.node) && (place->port == 0 || place->port == p.port));
}

bool has_class(std::size_t priority, const std::optional<spec::FaultPlace>& place) {
  return !place || place->traffic_class < 0 || static_cast<std::size_t>(place->traffic_class) == priority;
}

double sum_of(const DropCounts& drops, std::string_view reason) {
  double sum = 0;
  for (std::size_t i = 0; i < kDropReasons; ++i)
    if (reason.empty() || reason == name(static_cast<DropReason>(i))) sum += number(drops[i]);
  return sum;
}

Measured drops_at(const Report& r, const spec::Measure& m) {
  Several all(kCount, kSum);
  for (const PortReport& p : r.ports) {
    if (!is_at(p, m.at)) continue;
    if (!m.at || m.at->traffic_class < 0) all.add(sum_of(p.counters.drops, m.reason), name_of(p));
    for (std::size_t k = 0; k < kPriorities; ++k)
      if (has_class(k, m.at))
        all.add(sum_of(p.counters.classes[k].drops, m.reason), fmt::format("{} class {}", name_of(p), k));
  }
  return all.result();
}

std::optional<Measured> at_ports(const Report& r, const spec::Measure& m) {
  if (m.figure == kDrops.name) return drops_at(r, m);
  if (const ClassMeasure* c = named(kOfClasses, m.figure)) {
    Several all(c->unit, c->combine);
    for (const PortReport& p : r.ports)
      for (std::size_t k = 0; k < kPriorities; ++k)
        if (is_at(p, m.at) && has_class(k, m.at)) all.add(c->of(p, k), fmt::format("{} class {}", name_of(p), k));
    return all.result();
  }
  if (const PortMeasure* c = named(kOfPorts, m.figure)) {
    Several all(c->unit, c->combine);
    for (const PortReport& p : r.ports)
      if (is_at(p, m.at)) all.add(c->of(p), name_of(p));
    return all.result();
  }
  if (const GroupMeasure* c = named(kOfGroups, m.figure)) {
    Several all(c->unit, c->combine);
    for (const PathGroupReport& g : r.path_groups)
      if (g.bytes() > 0 && (!m.at || spec::matches(m.at->node, g.node))) all.add(c->of(g), g.node);
    return all.result();
  }
  return std::nullopt;
}

// ---- Flows and collectives -----------------------------------------------------------------------------------------

const TrafficReport* traffic_named(const Report& r, std::string_view name) {
  const auto found = std::ranges::find(r.traffic, name, &TrafficReport::name);
  return found == r.traffic.end() ? nullptr : &*found;
}

Measured of_collectives(const Report& r, const spec::Measure& m) {
  const CollectiveMeasure* const kind = named(kOfCollectives, m.figure);
  if (kind == nullptr) return {};
  Several all(kind->unit, kind->combine);
  for (const CollectiveReport& c : r.collectives)
    if (spec::matches(m.of, c.name))
      if (const Maybe value = kind->of(c)) all.add(*value, c.name);
  return all.result();
}

Measured of_named(const Report& r, const spec::Measure& m) {
  if (const FlowMeasure* kind = named(kOfFlows, m.figure)) {
    Several all(kind->unit, kind->combine);
    GoodputSum together;
    bool any = false;
    for (const FlowReport& f : r.flows) {
      const bool of_traffic = f.traffic < r.traffic.size() && spec::matches(m.of, r.traffic[f.traffic].name);
      if (!of_traffic && !spec::matches(m.of, f.name)) continue;
      any = true;
      together.add(f);
      // A flow without a completion time has none that a percentile could leave out.
      if (const Maybe value = kind->of(f)) all.add(*value, f.name);
    }
    if (any) {
      Measured found = all.result();
      const TrafficReport* const whole = traffic_named(r, m.of);
      if (kind->combine == kTogether) found.value = together.bps();
      if (whole != nullptr && kind->together != nullptr) found.value = kind->together(*whole);
      return found;
    }
  }
  return of_collectives(r, m);
}

// ---- Of the whole run: where it comes from -------------------------------------------------------------------------

// What has the worst of a figure of the summary, if that is to be named.
std::string where_of(const Report& r, const std::string& figure) {
  if (figure == "failed_verdicts") {
    std::string names;
    for (const Verdict& v : r.verdicts())
      if (v.answer == Verdict::Answer::kFail) names += (names.empty() ? "" : ", ") + v.name;
    return names;
  }
  if (figure == "deadlocks") return r.deadlocks.empty() ? "" : r.deadlocks.front().ring.front();
  spec::Measure one;
  one.figure = figure;
  if (const auto at = at_ports(r, one)) return at->where;
  one.of = "*";
  if (named(kOfFlows, figure) == nullptr && named(kOfCollectives, figure) == nullptr) return "";
  const std::string where = of_named(r, one).where;
  return where.empty() ? of_collectives(r, one).where : where;
}

}  // namespace

std::vector<MeasureKind> port_measures() {
  std::vector<MeasureKind> all{kDrops};
  add_kinds(kOfClasses, all);
  add_kinds(kOfPorts, all, CountedAt::kPort);
  add_kinds(kOfGroups, all, CountedAt::kSwitch);
  return all;
}

std::vector<MeasureKind> flow_measures() {
  std::vector<MeasureKind> all;
  add_kinds(kOfFlows, all);
  return all;
}

std::vector<MeasureKind> collective_measures() {
  std::vector<MeasureKind> all;
  add_kinds(kOfCollectives, all);
  return all;
}

Measured measure(const Report& report, const spec::Measure& what) {
  if (!what.of.empty()) return of_named(report, what);
  if (what.is_path())
    return {figure_of(nlohmann::ordered_json::parse(report.json()), what.figure), kind_of(what.figure).unit, ""};
  if (what.of_whole_run())
    for (const Figure& f : summary(report))
      if (f.name == what.figure) return {f.value, kind_of(f.name).unit, where_of(report, f.name)};
  return at_ports(report, what).value_or(Measured{std::nullopt, kind_of(what.figure).unit, ""});
}

}  // namespace railyard::report
