#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/report/diagnosis_text.h"
#include "control/report/doctor_text.h"
#include "control/report/drop_places.h"
#include "control/report/fabric_text.h"
#include "control/report/flow_text.h"
#include "control/report/int_text.h"
#include "control/report/judge.h"
#include "control/report/pause_totals.h"
#include "control/report/port_places.h"
#include "control/report/report.h"
#include "control/report/roce_text.h"
#include "control/report/routing_text.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostFlows = 16;

using Out = std::back_insert_iterator<std::string>;

void heading(Out out, const Report& r) {
  fmt::format_to(out, "{}: {} of simulated time, {} clock, seed {}, {} payload\n", r.run.name,
                 time_text(Duration{static_cast<std::int64_t>(r.engine.simulated_seconds * 1e12)}), r.run.clock,
                 r.run.seed, r.run.payload);
}

// Many flows: one line per traffic.
void traffic_lines(Out out, const Report& r) {
  struct Sum {
    std::vector<double> goodput;
    std::uint64_t packets = 0, lost = 0, arrived = 0, marked = 0;
    Percentiles worst;  // of each flow's latencies
    std::size_t flows = 0, measured = 0;
  };
  std::map<std::string, Sum> sums;
  for (const FlowReport& f : r.flows) {
    Sum& s = sums[f.name.substr(0, f.name.find('/'))];
    if (const auto bps = f.goodput_bps()) s.goodput.push_back(*bps);
    ++s.flows;
    s.measured += f.measured ? 1 : 0;
    s.packets += f.packets;
    s.lost += f.lost;
    s.arrived += f.arrived_packets;
    s.marked += f.marked;
    s.worst.count += f.latency_ns.count;
    s.worst.p99 = std::max(s.worst.p99, f.latency_ns.p99);
    s.worst.max = std::max(s.worst.max, f.latency_ns.max);
  }
  fmt::format_to(out, "\n{:<16} {:>6}  {:>36} {:>12} {:>8} {:>8}   {}\n", "traffic", "flows",
                 "goodput min / median / max", "packets", "lost", "CE", "worst latency p99 / max");
  for (auto& [name, s] : sums) {
    const Spread goodput = Spread::of(std::move(s.goodput));
    fmt::format_to(out, "{:<16} {:>6}  {:>36} {:>12} {:>8} {:>8}   {} / {}\n", name, s.flows,
                   goodput.count == 0 ? "-"
                                      : fmt::format("{} / {} / {}", rate_text(goodput.min), rate_text(goodput.p50),
                                                    rate_text(goodput.max)),
                   count_text(s.packets), s.measured > 0 ? count_text(s.lost) : "-",
                   s.arrived > 0 ? percent_text(ratio_of(s.marked, s.arrived)) : "-",
                   time_text(s.worst, &Percentiles::p99), time_text(s.worst, &Percentiles::max));
  }
}

void drop_lines(Out out, const Report& r) {
  const std::vector<DropPlace> all = drop_places(r);
  if (all.empty() && r.audit.lost_on_links == 0) {
    fmt::format_to(out, "\nNo frames were dropped.\n");
    return;
  }
  fmt::format_to(out, "\nDropped:\n");
  for (std::size_t i = 0; i < all.size();) {
    // One line for each side of each reason.
    const auto same = [&](const DropPlace& p) { return p.reason == all[i].reason; };
    std::vector<DropPlace> sides[2];
    for (const DropPlace& p : all)
      if (same(p)) sides[p.side == DropSide::kEgress].push_back(p);
    for (const std::vector<DropPlace>& places : sides) {
      if (places.empty()) continue;
      std::uint64_t frames = 0;
      for (const DropPlace& p : places) frames += p.frames;
      fmt::format_to(out, "  {:<20} {:>10}   at {} {}\n", name(places[0].reason), count_text(frames),
                     word(places[0].side), drop_places_text(places));
      i += places.size();
    }
  }
  std::uint64_t to_faults = 0;
  for (const PortReport& p : r.ports) to_faults += p.counters.lost_to_faults;
  if (r.audit.lost_on_links > to_faults)
    fmt::format_to(out, "  {:<20} {:>10}   on links, by link failures\n", "lost",
                   count_text(r.audit.lost_on_links - to_faults));
  if (to_faults > 0)
    fmt::format_to(out, "  {:<20} {:>10}   on links, by injected faults\n", "lost", count_text(to_faults));
}

void verdict_lines(Out out, const Report& r) {
  fmt::format_to(out, "\nVerdicts\n");
  for (const Verdict& v : r.verdicts())
    if (v.answer != Verdict::Answer::kOpen)
      fmt::format_to(out, "  {:<4}  {:<16}  {}\n", v.answer == Verdict::Answer::kFail ? "FAIL" : word(v.answer), v.name,
                     v.text);
}

void expectation_lines(Out out, const Report& r) {
  if (r.expectations.empty()) return;
  const auto met = std::ranges::count(r.expectations, true, &Expectation::met);
  fmt::format_to(out, "\nExpectations: {} of {} met\n", met, r.expectations.size());
  for (const Expectation& e : r.expectations) fmt::format_to(out, "  {}\n", expectation_text(e));
}

// The run in sentences, from the counters of the tables above.
void story(Out out, const Report& r) {
  const auto queued = used_queues(r);
  const PauseTotals pauses = pause_totals(r);
  if (queued.empty() && pauses.none()) return;
  std::uint64_t marks = 0;
  std::size_t stalled_switches = 0;
  std::size_t stalled_hosts = 0;
  for (const PortReport& p : r.ports)
    for (const ClassCounters& c : p.counters.classes) {
      marks += p.is_switch ? c.ecn_marked : 0;
      if (c.stalled > Duration{}) ++(p.is_switch ? stalled_switches : stalled_hosts);
    }
  const bool none = std::ranges::none_of(queued, [](const PortPlace& p) { return is_of_interest(*p.counters); });
  fmt::format_to(out, "\nIn short: ");
  if (none) {
    fmt::format_to(out, "no queueing");
  } else {
    const PortPlace& root = queued.front();
    fmt::format_to(out, "the deepest queue was {}, at {} to {}, class {}",
                   size_text(root.counters->max_depth_octets), root.name(), root.port->peer, root.priority);
  }
  if (marks > 0) fmt::format_to(out, "; switches marked {} frame{} CE", count_text(marks), marks == 1 ? "" : "s");
  fmt::format_to(out, "; {}", pauses.text());
  if (stalled_switches + stalled_hosts > 0)
    fmt::format_to(out, "; {} switch port{} and {} host NIC{} waited for credits", stalled_switches,
                   stalled_switches == 1 ? "" : "s", stalled_hosts, stalled_hosts == 1 ? "" : "s");
  fmt::format_to(out, ".\n");
}

// Injected faults.
void fault_lines(Out out, const Report& r) {
  if (r.faults.empty()) return;
  std::size_t name = 5, what = 4, where = 2;
  for (const fault::FaultStatus& f : r.faults) {
    name = std::max(name, f.name.size());
    what = std::max(what, f.what.size());
    where = std::max(where, f.where.size());
  }
  fmt::format_to(out, "\nInjected faults\n  {:<{}}  {:<{}}  {:<{}} {:>7} {:>12}\n", "fault", name, "what", what, "on",
                 where, "times", "frames");
  for (const fault::FaultStatus& f : r.faults)
    fmt::format_to(out, "  {:<{}}  {:<{}}  {:<{}} {:>7} {:>12}{}\n", f.name, name, f.what, what, f.where, where,
                   count_text(f.occurrences), f.counts_frames ? count_text(f.frames) : "-",
                   f.active ? "  still active" : "");
}

// PFC frames of a replayed capture: "3 PFC frames replayed; left out: not_pfc 1, malformed 2".
std::string capture_text(const AttachmentReport& a) {
  std::string left_out;
  for (const auto& [why, frames] : a.left_out)
    left_out += fmt::format("{}{} {}", left_out.empty() ? "" : ", ", why, count_text(frames));
  return fmt::format("{} PFC frames replayed; left out: {}", count_text(a.pfc_sent),
                     left_out.empty() ? "none" : left_out);
}

void engine_lines(Out out, const Report& r) {
  const EngineReport& e = r.engine;
  fmt::format_to(
      out,
      "\nEngine: {} packet-hops in {:.2f} s of CPU ({:.2f} M per core-second), {:.2f} s of wall time, {} of memory\n",
      count_text(e.packet_hops), e.cpu_seconds,
      e.cpu_seconds > 0 ? static_cast<double>(e.packet_hops) / e.cpu_seconds / 1e6 : 0, e.wall_seconds,
      size_text(e.peak_rss_bytes));
  for (std::size_t i = 0; i < e.processes.size(); ++i) {
    const ProcessReport& p = e.processes[i];
    fmt::format_to(out, "Process {}: {} devices, {:.2f} s of CPU, {:.2f} s waiting, {} of memory, {} frames ({}) sent to others\n", i,
                   p.devices, p.cpu_seconds, p.wait_seconds, size_text(p.peak_rss_bytes), count_text(p.frames_sent),
                   size_text(p.bytes_sent));
  }
  if (e.lateness_ns)
    fmt::format_to(out,
                   "Wall clock: lateness p50 {} / p99 {} / max {}; simulated time slipped by {}; {} scheduling gaps\n",
                   nanoseconds_text(e.lateness_ns->p50), nanoseconds_text(e.lateness_ns->p99),
                   nanoseconds_text(e.lateness_ns->max), nanoseconds_text(static_cast<std::uint64_t>(e.slip_ns)),
                   count_text(e.gaps));
  for (const AttachmentReport& a : r.attachments) {
    fmt::format_to(out, "Attached: {} NIC {} ({}): {} frames in, {} out; ", a.node, a.nic, a.device,
                   count_text(a.received), count_text(a.sent));
    if (a.is_capture)
      fmt::format_to(out, "{}\n", capture_text(a));
    else
      fmt::format_to(out, "lost: host_ring_full {}, no_memory {}, not_sent {}\n", count_text(a.host_ring_full),
                     count_text(a.no_memory), count_text(a.not_sent));
  }
  for (const TrunkReport& t : r.trunks)
    fmt::format_to(
        out,
        "Trunk: {} ({}): {}{}; {} frames sent, {} received, {} lost in transit; round trip {}; {} late, lateness p50 / "
        "p99 / max: {}; {} link failures\n",
        t.node, t.wire, t.state, t.counters.has_carrier ? "" : ", no carrier", count_text(t.counters.sent),
        count_text(t.counters.received), count_text(t.counters.lost), nanoseconds_text(t.counters.round_trip_ps / 1000),
        count_text(t.counters.late), time_text(t.lateness_ns), count_text(t.counters.downs));
  if (r.trace_digest) fmt::format_to(out, "Trace digest: {:016x}\n", *r.trace_digest);
  if (!r.audit.balanced) {
    fmt::format_to(out, "PACKET ACCOUNTING DOES NOT BALANCE:\n");
    for (const std::string& line : r.audit.unbalanced) fmt::format_to(out, "  {}\n", line);
  } else if (r.audit.drained) {
    fmt::format_to(out, "Packet accounting: balanced; 0 packets in flight.\n");
  } else {
    fmt::format_to(out, "Packet accounting: balanced; {} frames still queued, {} on the wire.\n",
                   count_text(r.audit.queued), count_text(r.audit.on_the_wire));
  }
}

}  // namespace

std::string Report::text() const { return text_of(*this, findings(*this)); }

std::string text_of(const Report& r, const std::vector<doctor::Found>& causes) {
  std::string text;
  const Out out = std::back_inserter(text);
  heading(out, r);
  if (!r.flows.empty() && r.flows.size() <= kMostFlows) text += flow_text(r.flows);
  if (r.flows.size() > kMostFlows) traffic_lines(out, r);
  if (const std::string roce = roce_text(r.flows); !roce.empty()) text += "\n" + roce;
  if (const std::string uet = uet_text(r.flows, r.uet_nics); !uet.empty()) text += "\n" + uet;
  if (const std::string found = collective_text(r.collectives); !found.empty()) text += "\n" + found;
  if (const std::string services = service_text(r.service_nics, r.rpings); !services.empty()) text += "\n" + services;
  text += fabric_text(r);
  text += bundles_text(r.bundles);
  text += routing_text(r);
  drop_lines(out, r);
  fault_lines(out, r);
  if (r.in_band) text += "\n" + int_text(*r.in_band);
  if (r.probes) text += "\n" + probe_text(*r.probes);
  story(out, r);
  verdict_lines(out, r);
  expectation_lines(out, r);
  if (!r.run.diagnosis.empty()) text += "\n" + diagnosis_text(r);
  if (const std::string found = doctor_text(causes); !found.empty()) text += "\n" + found;
  engine_lines(out, r);
  return text;
}

}  // namespace railyard::report
