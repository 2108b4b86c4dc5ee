#include "control/report/metrics/run_totals.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "control/report/report.h"

namespace railyard::report {
namespace {

double dropped_at_egress(const ClassCounters& c) {
  double sum = 0;
  for (const DropReason reason : {DropReason::kEgressFull, DropReason::kWred, DropReason::kTrimQueueFull})
    sum += static_cast<double>(c.drops[static_cast<std::size_t>(reason)]);
  return sum;
}

// Payload that an application lacks: it never arrived, or was wrong.
double missing_of(const FlowReport& f) {
  if (!f.failed() && f.fct_ns && f.corrupted == 0) return 0;
  const double left = static_cast<double>(f.asked_bytes) - static_cast<double>(f.delivered_bytes);
  return std::max(left, f.corrupted > 0 ? 1.0 : 0.0);
}

}  // namespace

RunTotals::RunTotals(const Report& r) : report(&r) {
  add_flows();
  add_collectives();
  add_ports();
}

void RunTotals::add_flows() {
  received = report->flows.empty() || std::ranges::any_of(report->flows, &FlowReport::measured);
  GoodputSum sum;
  std::set<std::string> sinks;
  for (const FlowReport& f : report->flows) {
    failed_flows += f.failed() ? 1 : 0;
    if (f.asked_bytes > 0 && f.was_offered) {
      ++with_end;
      complete += f.fct_ns ? 1 : 0;
    }
    if (f.fct_ns) {
      fct.push_back(static_cast<double>(*f.fct_ns));
      makespan_ns = std::max(makespan_ns, static_cast<double>(f.start_ns + *f.fct_ns));
    }
    if (const auto s = f.slowdown()) slowdown.push_back(*s);
    if (const auto s = f.share()) share.push_back(*s);
    if (const auto ns = f.initiation_ns()) initiation.push_back(static_cast<double>(*ns));
    if (const auto bps = f.goodput_bps()) {
      goodput.push_back(*bps);
      sinks.insert(f.destination);
      sum.add(f);
      const auto [asked, delivered] = f.asked_and_delivered();
      asked_bytes += asked;
      delivered_bytes += delivered;
      if (f.offered_bps > 0 && f.arrival_bps) {
        offered_bps += f.offered_bps;
        accepted_bps += std::min(*f.arrival_bps, f.offered_bps);
      }
    }
    if (f.measured && f.asked_bytes > 0 && f.was_offered) missing = missing.value_or(0) + missing_of(f);
    lost += static_cast<double>(f.lost);
    retransmitted += static_cast<double>(f.retransmitted());
    requester_packets += static_cast<double>(f.requester_packets);
    out_of_order += static_cast<double>(f.out_of_order());
    if (f.roce) cnps += static_cast<double>(f.roce->cnp_handled + f.roce->cnp_ignored);
  }
  goodput_bytes = sum.bytes;
  goodput_ns = sum.ns();
  for (const PortReport& p : report->ports)
    if (!p.is_switch && (sinks.contains(p.node) || sinks.contains(fmt::format("{}:{}", p.node, p.port))))
      sink_rates += static_cast<double>(p.rate_bps);
}

// Steps of training have a time only.
void RunTotals::add_collectives() {
  for (const CollectiveReport& c : report->collectives) {
    with_end += static_cast<double>(c.iterations.size());
    complete +=
        static_cast<double>(std::ranges::count_if(c.iterations, [](const auto& i) { return i.time_ns.has_value(); }));
    if (c.median_ns) collective_time.push_back(static_cast<double>(*c.median_ns));
    if (c.max_ns) longest_iteration_ns = std::max(longest_iteration_ns, static_cast<double>(*c.max_ns));
    if (c.job)
      job_utilisation.push_back(c.job->utilisation);
    if (c.figures && c.figures->efficiency) job_efficiency.push_back(*c.figures->efficiency);
    if (c.figures && c.figures->training && c.figures->training->mfu) job_mfu.push_back(*c.figures->training->mfu);
    if (c.figures && c.figures->inference) {
      const InferenceFigures& f = *c.figures->inference;
      if (f.requests_per_second) job_requests.push_back(*f.requests_per_second);
      for (const InferenceFigures::Request& q : f.requests) {
        ttft.push_back(q.ttft_ns);
        if (q.tpot_ns) tpot.push_back(*q.tpot_ns);
        request_latency.push_back(q.latency_ns);
        kv_transfer.push_back(q.kv_ns);
      }
    }
    if (c.figures && c.figures->tokens_per_second())
      job_tokens.push_back(*c.figures->tokens_per_second());
    else if (c.median_ns) {
      algbw.push_back(c.algbw_bps);
      busbw.push_back(c.busbw_bps);
    }
    retransmitted += static_cast<double>(c.retransmitted_packets);
    requester_packets += static_cast<double>(c.packets);
    out_of_order += static_cast<double>(c.out_of_order);
    cnps += static_cast<double>(c.cnp_handled);
  }
}

void RunTotals::add_ports() {
  for (const PortReport& p : report->ports) {
    drops += static_cast<double>(p.counters.dropped());
    wire_bytes += static_cast<double>(p.counters.tx_octets());
    for (const ClassCounters& c : p.counters.classes) {
      ecn_marked += static_cast<double>(c.ecn_marked);
      trimmed += static_cast<double>(c.trimmed);
      paused_ns += static_cast<double>(nanoseconds(c.paused));
      stalled_ns += static_cast<double>(nanoseconds(c.stalled));
      held_back += c.paused > Duration{} || c.stalled > Duration{} ? 1 : 0;
      xoff_sent += static_cast<double>(c.xoff_sent);
      if (c.trimmed > 0) at_trimming_queues += static_cast<double>(c.trimmed + c.tx_packets) + dropped_at_egress(c);
      if (p.is_switch) max_queue = std::max(max_queue, static_cast<double>(c.max_depth_octets));
    }
  }
  for (const LinkTier& t : report->link_tiers) max_utilisation = std::max(max_utilisation, t.max_utilisation);
  for (const PathGroupReport& g : report->path_groups) {
    if (g.bytes() == 0) continue;
    max_over_mean = std::max(max_over_mean.value_or(0), g.max_over_mean());
    jain_link = std::min(jain_link.value_or(1), g.jain_index());
  }
}

}  // namespace railyard::report
