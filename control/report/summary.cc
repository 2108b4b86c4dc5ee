#include "control/report/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

// Over everybody's flows, since percentiles are not to be averaged.
struct Pooled {
  std::vector<double> fct, slowdown, goodput, share, initiation;
  double offered = 0, accepted = 0;  // bit/s of payload, of flows with a rate
};

Pooled pooled(const Report& r) {
  Pooled all;
  for (const FlowReport& f : r.flows) {
    if (f.fct_ns) all.fct.push_back(static_cast<double>(*f.fct_ns));
    if (const auto s = f.slowdown()) all.slowdown.push_back(*s);
    if (const auto s = f.share()) all.share.push_back(*s);
    if (f.packets > 0 && f.measured) all.goodput.push_back(f.goodput_bps);
    if (const auto ns = f.initiation_ns()) all.initiation.push_back(static_cast<double>(*ns));
    if (f.offered_bps > 0 && f.measured) {
      all.offered += f.offered_bps;
      all.accepted += f.arrival_bps;
    }
  }
  return all;
}

// Of all flows together, from the first frame sent to the last arrived.
double total_goodput(const Report& r) {
  Instant first = Instant::never();
  Instant last{};
  double octets = 0;
  for (const TrafficReport& t : r.traffic) {
    first = std::min(first, t.first);
    last = std::max(last, t.last);
    octets += static_cast<double>(t.delivered_bytes);
  }
  return last > first ? octets * 8 / seconds(last - first) : 0;
}

struct Sums {
  double lost = 0, drops = 0, retransmitted = 0, sent = 0, reordered = 0, marked = 0, cnps = 0, trimmed = 0;
  double wire = 0;            // octets of frames, on all links
  double at_full_queues = 0;  // trimmed, dropped and sent by the queues that have trimmed something
  double xoff = 0, paused_ns = 0, stalled_ns = 0, held_back = 0, deepest = 0;
};

double dropped_for_any_reason(const PortReport& p) { return static_cast<double>(p.counters.dropped()); }

double dropped_at_egress(const ClassCounters& c) {
  double sum = 0;
  for (const DropReason reason : {DropReason::kEgressFull, DropReason::kWred, DropReason::kTrimQueueFull})
    sum += static_cast<double>(c.drops[static_cast<std::size_t>(reason)]);
  return sum;
}

Sums sums_of(const Report& r) {
  Sums s;
  for (const CollectiveReport& c : r.collectives) {
    s.retransmitted += static_cast<double>(c.retransmitted_packets);
    s.sent += static_cast<double>(c.packets);
    s.reordered += static_cast<double>(c.out_of_order);
    s.cnps += static_cast<double>(c.cnp_handled);
  }
  for (const TrafficReport& t : r.traffic) {
    s.lost += static_cast<double>(t.lost);
    s.retransmitted += static_cast<double>(t.retransmitted);
    if (t.transport != "generator") s.sent += static_cast<double>(t.packets);
    s.reordered += static_cast<double>(t.reordered);
    s.cnps += static_cast<double>(t.cnps);
  }
  for (const PortReport& p : r.ports) {
    s.drops += dropped_for_any_reason(p);
    s.wire += static_cast<double>(p.counters.tx_octets());
    for (const ClassCounters& c : p.counters.classes) {
      s.marked += static_cast<double>(c.ecn_marked);
      s.trimmed += static_cast<double>(c.trimmed);
      s.paused_ns += static_cast<double>(nanoseconds(c.paused));
      s.stalled_ns += static_cast<double>(nanoseconds(c.stalled));
      s.held_back += c.paused > Duration{} || c.stalled > Duration{} ? 1 : 0;
      s.xoff += static_cast<double>(c.xoff_sent);
      if (c.trimmed > 0) s.at_full_queues += static_cast<double>(c.trimmed + c.tx_packets) + dropped_at_egress(c);
      if (p.is_switch) s.deepest = std::max(s.deepest, static_cast<double>(c.max_depth_octets));
    }
  }
  return s;
}

// The part of the flows that have an end, and of the repeats of collectives, that have come to it.
std::optional<double> completed(const Report& r) {
  double asked = 0, done = 0;
  for (const TrafficReport& t : r.traffic) {
    asked += static_cast<double>(t.with_end);
    done += static_cast<double>(t.complete);
  }
  for (const CollectiveReport& c : r.collectives) {
    asked += static_cast<double>(c.iterations.size());
    done +=
        static_cast<double>(std::ranges::count_if(c.iterations, [](const auto& i) { return i.time_ns.has_value(); }));
  }
  return asked > 0 ? std::optional(done / asked) : std::nullopt;
}

// Payload, each octet once, of what the NICs that flows end at could have taken meanwhile.
std::optional<double> goodput_part(const Report& r) {
  std::map<std::string, double> sinks;
  for (const FlowReport& f : r.flows)
    if (f.measured && f.packets > 0) sinks[f.destination] = 0;
  double rates = 0;
  for (const PortReport& p : r.ports)
    if (!p.is_switch && (sinks.contains(p.node) || sinks.contains(fmt::format("{}:{}", p.node, p.port))))
      rates += static_cast<double>(p.rate_bps);
  return rates > 0 ? std::optional(total_goodput(r) / rates) : std::nullopt;
}

// Octets of flows with an end that have not arrived, or not as they were sent: what an application lacks.
std::optional<double> missing(const Report& r) {
  std::optional<double> sum;
  for (const FlowReport& f : r.flows) {
    if (f.asked_bytes == 0 || !f.measured) continue;
    const auto asked = static_cast<double>(f.asked_bytes);
    sum = sum.value_or(0) + (f.failed() || !f.fct_ns || f.corrupted > 0
                                 ? std::max(asked - static_cast<double>(f.delivered_bytes), f.corrupted > 0 ? 1.0 : 0.0)
                                 : 0.0);
  }
  return sum;
}

// The median collective's, and the longest repeat of any; steps of training have a time only.
void add_collectives(const Report& r, std::vector<Figure>& out) {
  std::vector<double> times, algbw, busbw, utilisation;
  double longest = 0;
  for (const CollectiveReport& c : r.collectives) {
    if (c.median_ns) times.push_back(static_cast<double>(*c.median_ns));
    if (c.max_ns) longest = std::max(longest, static_cast<double>(*c.max_ns));
    if (c.job)
      utilisation.push_back(c.job->utilisation);
    else if (c.median_ns) {
      algbw.push_back(c.algbw_bps);
      busbw.push_back(c.busbw_bps);
    }
  }
  const auto add = [&](const char* name, std::vector<double>& values) {
    if (!values.empty()) out.push_back({name, Spread::of(std::move(values)).p50});
  };
  add("collective_time", times);
  if (longest > 0) out.push_back({"collective_max", longest});
  add("algbw", algbw);
  add("busbw", busbw);
  add("utilisation", utilisation);
}

}  // namespace

std::vector<Figure> summary(const Report& r) {
  std::vector<Figure> out;
  if (const auto part = completed(r)) out.push_back({"completed", *part});
  Pooled all = pooled(r);
  double makespan = 0;
  for (const FlowReport& f : r.flows)
    if (f.fct_ns) makespan = std::max(makespan, static_cast<double>(f.start_ns + *f.fct_ns));
  if (!all.goodput.empty()) {
    out.push_back({"jain", jain_index(all.goodput)});
    const Spread goodput = Spread::of(std::move(all.goodput));
    out.insert(out.begin(),
               {{"goodput", total_goodput(r)}, {"goodput_min", goodput.min}, {"goodput_p50", goodput.p50}});
  }
  if (const auto part = goodput_part(r); part && *part > 0) out.push_back({"goodput_part", *part});
  if (all.offered > 0) out.push_back({"accepted", all.accepted / all.offered});
  if (!all.initiation.empty()) out.push_back({"initiation_p50", Spread::of(std::move(all.initiation)).p50});
  if (!all.share.empty()) out.push_back({"share_p50", Spread::of(std::move(all.share)).p50});
  if (!all.fct.empty()) {
    const Spread fct = Spread::of(std::move(all.fct));
    for (const auto& [name, value] : {std::pair{"fct_mean", fct.mean}, std::pair{"fct_p50", fct.p50},
                                      std::pair{"fct_p99", fct.p99}, std::pair{"fct_max", fct.max}})
      out.push_back({name, value});
    out.push_back({"makespan", makespan});
  }
  if (!all.slowdown.empty()) {
    const Spread slowdown = Spread::of(std::move(all.slowdown));
    for (const auto& [name, value] : {std::pair{"slowdown_mean", slowdown.mean},
                                      std::pair{"slowdown_p50", slowdown.p50}, std::pair{"slowdown_p99", slowdown.p99}})
      out.push_back({name, value});
  }
  if (r.latency_samples > 0)
    for (const auto& [name, value] :
         {std::pair{"latency_p50", r.latency_ns.p50}, std::pair{"latency_p90", r.latency_ns.p90},
          std::pair{"latency_p99", r.latency_ns.p99}, std::pair{"latency_p999", r.latency_ns.p999},
          std::pair{"latency_p9999", r.latency_ns.p9999}, std::pair{"latency_max", r.latency_ns.max}})
      out.push_back({name, static_cast<double>(value)});
  add_collectives(r, out);
  const Sums s = sums_of(r);
  for (const auto& [name, value] :
       {std::pair{"lost", s.lost}, std::pair{"drops", s.drops}, std::pair{"retransmitted", s.retransmitted},
        std::pair{"out_of_order", s.reordered}, std::pair{"trimmed", s.trimmed}, std::pair{"ecn_marked", s.marked},
        std::pair{"cnps", s.cnps}, std::pair{"xoff_sent", s.xoff}, std::pair{"paused", s.paused_ns},
        std::pair{"stalled", s.stalled_ns}, std::pair{"held_back", s.held_back}, std::pair{"max_queue", s.deepest},
        std::pair{"peak_buffer", static_cast<double>(r.peak_buffer_bytes)}, std::pair{"wire_bytes", s.wire}})
    out.push_back({name, value});
  if (const auto octets = missing(r)) out.push_back({"missing", *octets});
  if (s.sent > 0) out.push_back({"retransmission_rate", s.retransmitted / s.sent});
  if (s.at_full_queues > 0) out.push_back({"trim_rate", s.trimmed / s.at_full_queues});
  if (r.transients) {
    if (const auto ns = r.transients->repair_ns()) out.push_back({"repair_after", static_cast<double>(*ns)});
    if (const auto ns = r.transients->convergence_ns()) out.push_back({"convergence", static_cast<double>(*ns)});
    if (const auto off = r.transients->nearest_share()) out.push_back({"off_fair_share", *off});
  }
  LinkRetryCounters llr;
  for (const PortReport& p : r.ports) llr.add(p.counters.llr);
  if (llr.on) {
    out.push_back({"llr_replays", static_cast<double>(llr.replays)});
    out.push_back({"llr_latency_mean", static_cast<double>(nanoseconds(llr.mean_late()))});
    out.push_back({"llr_latency_max", static_cast<double>(nanoseconds(llr.most_late))});
  }
  double utilisation = 0;
  double imbalance = 0;
  double least_even = 1;
  for (const LinkTier& t : r.link_tiers) utilisation = std::max(utilisation, t.max_utilisation);
  for (const PathGroupReport& g : r.path_groups) {
    if (g.bytes() == 0) continue;
    imbalance = std::max(imbalance, g.max_over_mean());
    least_even = std::min(least_even, g.jain_index());
  }
  out.push_back({"max_utilisation", utilisation});
  if (imbalance > 0) {
    out.push_back({"max_over_mean", imbalance});
    out.push_back({"jain_link", least_even});
  }
  double failed_flows = 0;
  for (const TrafficReport& t : r.traffic) failed_flows += static_cast<double>(t.failed);
  out.push_back({"failed_flows", failed_flows});
  if (r.watched_for_deadlocks) out.push_back({"deadlocks", static_cast<double>(r.deadlocks.size())});
  const std::vector<Verdict> verdicts = r.verdicts();
  out.push_back(
      {"failed_verdicts", static_cast<double>(std::ranges::count(verdicts, Verdict::Answer::kFail, &Verdict::answer))});
  out.push_back({"packet_hops", static_cast<double>(r.engine.packet_hops)});
  out.push_back({"cpu_seconds", r.engine.cpu_seconds});
  return out;
}

std::string figure_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return nanoseconds_text(static_cast<std::uint64_t>(std::max(0.0, value)));
    case Unit::kBitsPerSecond:
      return rate_text(value);
    case Unit::kBytes:
      return size_text(static_cast<std::uint64_t>(std::max(0.0, value)));
    case Unit::kSeconds:
      return fmt::format("{:.2f} s", value);
    case Unit::kRatio:
      return fmt::format("{:.3f}", value);
    case Unit::kCount:
      break;
  }
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return (value < 0 ? "-" : "") + count_text(static_cast<std::uint64_t>(std::abs(value)));
  return fmt::format("{:.3f}", value);
}

}  // namespace railyard::report
