#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/report/diagnosis_text.h"
#include "control/report/drop_places.h"
#include "control/report/flow_text.h"
#include "control/report/int_text.h"
#include "control/report/judge.h"
#include "control/report/pause_totals.h"
#include "control/report/report.h"
#include "control/report/roce_text.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostFlows = 16;
constexpr std::size_t kMostPorts = 8;
constexpr std::size_t kMostGroups = 4;

using Out = std::back_insert_iterator<std::string>;

// One class of one port that something happened to.
struct Place {
  const PortReport* port;
  std::size_t priority;
  const ClassCounters* counters;
  std::string name() const { return fmt::format("{}:{}", port->node, port->port); }
};

std::vector<Place> places(const Report& r) {
  std::vector<Place> out;
  for (const PortReport& p : r.ports)
    for (std::size_t k = 0; k < kPriorities; ++k) out.push_back({&p, k, &p.counters.classes[k]});
  return out;
}

template <class Keep, class Amount>
std::vector<Place> most(const Report& r, Keep keep, Amount amount) {
  std::vector<Place> out = places(r);
  std::erase_if(out, [&](const Place& p) { return !keep(p); });
  std::stable_sort(out.begin(), out.end(), [&](const Place& a, const Place& b) { return amount(a) > amount(b); });
  return out;
}

// Whether a queue held more than back-to-back frames, or marked, dropped or paused any.
bool is_of_interest(const ClassCounters& c) {
  constexpr std::uint64_t kFew = 2;  // frames
  if (c.ecn_marked > 0 || c.paused > Duration{} || c.stalled > Duration{} || egress_drops(c) > 0) return true;
  return c.tx_packets > 0 && c.max_depth_octets > kFew * (c.tx_octets / c.tx_packets);
}

// The switches' queues that were ever in use, the deepest first.
std::vector<Place> queues(const Report& r) {
  return most(
      r, [](const Place& p) { return p.port->is_switch && p.counters->max_depth_octets > 0; },
      [](const Place& p) { return p.counters->max_depth_octets; });
}

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

void queue_lines(Out out, const Report& r) {
  std::vector<Place> queued = queues(r);
  const std::size_t all = queued.size();
  std::erase_if(queued, [](const Place& p) { return !is_of_interest(*p.counters); });
  if (queued.empty()) return;
  fmt::format_to(out, "\nDeepest egress queues\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>9} {:>10} {:>12} {:>9} {:>8}\n", "port", "towards", "class", "used",
                 "deepest", "= waiting", "CE marks", "drops");
  for (std::size_t i = 0; i < std::min(queued.size(), kMostPorts); ++i) {
    const Place& p = queued[i];
    const Duration waiting{p.port->rate_bps > 0
                               ? static_cast<std::int64_t>(static_cast<double>(p.counters->max_depth_octets) * 8e12 /
                                                           static_cast<double>(p.port->rate_bps))
                               : 0};
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>9} {:>10} {:>12} {:>9} {:>8}\n", p.name(), p.port->peer, p.priority,
                   percent_text(p.port->utilisation), size_text(p.counters->max_depth_octets), time_text(waiting),
                   count_text(p.counters->ecn_marked), count_text(egress_drops(*p.counters)));
  }
  if (queued.size() > kMostPorts)
    fmt::format_to(out, "  and {} more, up to {}\n", queued.size() - kMostPorts,
                   size_text(queued[kMostPorts].counters->max_depth_octets));
  if (all > queued.size())
    fmt::format_to(out, "  {} other queue{}: back-to-back frames only, no queueing\n", all - queued.size(),
                   all - queued.size() == 1 ? "" : "s");
}

// The least balanced groups of next hops, and out-of-order packets.
void path_lines(Out out, const Report& r) {
  std::vector<const PathGroupReport*> groups;
  for (const PathGroupReport& g : r.path_groups)
    if (g.bytes() > 0) groups.push_back(&g);
  if (groups.empty()) return;
  std::ranges::stable_sort(groups, [](const auto* a, const auto* b) { return a->jain_index() < b->jain_index(); });
  fmt::format_to(out, "\nECMP balance ({} next-hop group{}, worst first)\n", groups.size(),
                 groups.size() == 1 ? "" : "s");
  fmt::format_to(out, "  {:<14} {:>7} {:>9} {:>9} {:>6}   {}\n", "switch", "members", "bytes", "max/mean", "Jain",
                 "most went to");
  for (std::size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    const PathGroupReport& g = *groups[i];
    const auto most = std::ranges::max_element(g.members, {}, &PathGroupReport::Member::bytes);
    fmt::format_to(out, "  {:<14} {:>7} {:>9} {:>9.2f} {:>6.3f}   {} ({})\n", g.node, g.members.size(),
                   size_text(g.bytes()), g.max_over_mean(), g.jain_index(), most->port, most->peer);
  }
  std::uint64_t reordered = 0;
  std::uint64_t arrived = 0;
  for (const FlowReport& f : r.flows) reordered += f.reordered, arrived += f.arrived_packets;
  if (arrived > 0)
    fmt::format_to(out, "  Out-of-order packets at receivers: {} of {} ({})\n", count_text(reordered),
                   count_text(arrived), percent_text(ratio_of(reordered, arrived)));
  std::uint64_t reports_sent = 0;
  std::uint64_t reports_received = 0;
  for (const PortReport& p : r.ports) {
    reports_sent += p.counters.quality_reports_sent;
    reports_received += p.counters.quality_reports_received;
  }
  if (reports_sent > 0)
    fmt::format_to(out, "  Queue reports between switches: {} sent, {} received\n", count_text(reports_sent),
                   count_text(reports_received));
}

void pause_lines(Out out, const Report& r) {
  const auto paused = most(
      r, [](const Place& p) { return p.counters->paused > Duration{}; },
      [](const Place& p) { return p.counters->paused.ps; });
  if (paused.empty()) return;
  fmt::format_to(out, "\nPorts paused by PFC ({} port-class{}, longest first)\n", paused.size(),
                 paused.size() == 1 ? "" : "es");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9} {:>7}\n", "port", "paused by", "class", "paused", "of time",
                 "XOFFs");
  for (std::size_t i = 0; i < std::min(paused.size(), kMostPorts); ++i) {
    const Place& p = paused[i];
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9} {:>7}\n", p.name(), p.port->peer, p.priority,
                   time_text(p.counters->paused),
                   percent_text(r.engine.simulated_seconds > 0
                                    ? seconds(p.counters->paused) / r.engine.simulated_seconds
                                    : 0),
                   count_text(p.counters->xoff_received));
  }
  if (paused.size() > kMostPorts)
    fmt::format_to(out, "  and {} more, up to {}\n", paused.size() - kMostPorts,
                   time_text(paused[kMostPorts].counters->paused));
}

// PFC frames of a replayed capture: "3 PFC frames replayed; left out: not_pfc 1, malformed 2".
std::string capture_text(const AttachmentReport& a) {
  std::string left_out;
  for (const auto& [why, frames] : a.left_out)
    left_out += fmt::format("{}{} {}", left_out.empty() ? "" : ", ", why, count_text(frames));
  return fmt::format("{} PFC frames replayed; left out: {}", count_text(a.pfc_sent),
                     left_out.empty() ? "none" : left_out);
}

// Pause requests for priorities without PFC: the two ends are configured differently, or a peer sends a storm.
void not_enabled_lines(Out out, const Report& r) {
  const auto ignored = most(
      r, [](const Place& p) { return p.counters->pfc_not_enabled > 0; },
      [](const Place& p) { return p.counters->pfc_not_enabled; });
  if (ignored.empty()) return;
  fmt::format_to(out, "\nIgnored PFC requests: PFC is not enabled for this class at the receiving port\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10}\n", "port", "sent by", "class", "requests");
  for (std::size_t i = 0; i < std::min(ignored.size(), kMostPorts); ++i)
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10}\n", ignored[i].name(), ignored[i].port->peer,
                   ignored[i].priority, count_text(ignored[i].counters->pfc_not_enabled));
  if (ignored.size() > kMostPorts) fmt::format_to(out, "  and {} more\n", ignored.size() - kMostPorts);
}

// The same where senders have credits.
void stall_lines(Out out, const Report& r) {
  const auto stalled = most(
      r, [](const Place& p) { return p.counters->stalled > Duration{}; },
      [](const Place& p) { return p.counters->stalled.ps; });
  if (stalled.empty()) return;
  fmt::format_to(out, "\nPorts that waited for credits, CBFC ({} port-class{}, longest first)\n", stalled.size(),
                 stalled.size() == 1 ? "" : "es");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9}\n", "port", "credits of", "class", "waited", "of time");
  for (std::size_t i = 0; i < std::min(stalled.size(), kMostPorts); ++i) {
    const Place& p = stalled[i];
    fmt::format_to(
        out, "  {:<14} {:<14} {:>5} {:>10} {:>9}\n", p.name(), p.port->peer, p.priority, time_text(p.counters->stalled),
        percent_text(r.engine.simulated_seconds > 0 ? seconds(p.counters->stalled) / r.engine.simulated_seconds : 0));
  }
  if (stalled.size() > kMostPorts)
    fmt::format_to(out, "  and {} more, up to {}\n", stalled.size() - kMostPorts,
                   time_text(stalled[kMostPorts].counters->stalled));
}

// CE marks should come before pauses; where they come late, the thresholds need a change.
void order_lines(Out out, const Report& r) {
  const auto both = most(
      r,
      [](const Place& p) { return p.port->is_switch && p.counters->first_xoff != Instant::never(); },
      [](const Place& p) { return -(p.counters->first_xoff - Instant{}).ps; });
  if (both.empty()) return;
  fmt::format_to(out,
                 "\nCE or XOFF first (queues whose ingress groups crossed XOFF, earliest first)\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>12} {:>12}\n", "port", "towards", "class", "first CE",
                 "first XOFF");
  for (std::size_t i = 0; i < std::min(both.size(), kMostPorts); ++i) {
    const Place& p = both[i];
    const Instant ce = p.counters->first_ce;
    const Instant xoff = p.counters->first_xoff;
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>12} {:>12}   {}\n", p.name(), p.port->peer, p.priority,
                   ce == Instant::never() ? std::string("-") : time_text(ce - Instant{}), time_text(xoff - Instant{}),
                   ce == Instant::never() ? "never marked"
                   : ce < xoff            ? fmt::format("CE {} earlier", time_text(xoff - ce))
                                          : fmt::format("XOFF {} earlier", time_text(ce - xoff)));
  }
  if (both.size() > kMostPorts) fmt::format_to(out, "  and {} more\n", both.size() - kMostPorts);
}

// ASICs compare whole cells, and a frame occupies whole cells: the effective threshold differs from the configured one.
void threshold_lines(Out out, const Report& r) {
  if (r.thresholds.empty()) return;
  fmt::format_to(out, "\nSwitch thresholds: configured value, cells, and effective value for the lab's frame size\n{}",
                 thresholds_text(r.thresholds, "  "));
}

void trim_lines(Out out, const Report& r) {
  const auto trimmed = most(
      r, [](const Place& p) { return p.counters->trimmed > 0; }, [](const Place& p) { return p.counters->trimmed; });
  if (trimmed.empty()) return;
  fmt::format_to(out, "\nTrimmed frames (queue full; forwarded without payload)\n");
  for (std::size_t i = 0; i < std::min(trimmed.size(), kMostPorts); ++i)
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>12}\n", trimmed[i].name(), trimmed[i].port->peer, trimmed[i].priority,
                   count_text(trimmed[i].counters->trimmed));
  if (trimmed.size() > kMostPorts) fmt::format_to(out, "  and {} more\n", trimmed.size() - kMostPorts);
}

// Frames repaired by link-level retry, and the delay it added.
void llr_lines(Out out, const Report& r) {
  LinkRetryCounters all;
  std::vector<const PortReport*> ports;
  for (const PortReport& p : r.ports) {
    all.add(p.counters.llr);
    if (p.counters.llr.replays > 0) ports.push_back(&p);
  }
  if (ports.empty()) return;
  std::ranges::stable_sort(ports, [](const auto* a, const auto* b) {
    return a->counters.llr.replays > b->counters.llr.replays;
  });
  fmt::format_to(out, "\nLink-level retry (LLR): {} frames retransmitted, mean added delay {}\n",
                 count_text(all.frames), time_text(all.mean_late()));
  fmt::format_to(out, "  {:<14} {:<14} {:>8} {:>8} {:>10} {:>10} {:>10}\n", "port", "to", "frames", "replays", "min",
                 "mean", "max");
  for (std::size_t i = 0; i < std::min(ports.size(), kMostPorts); ++i) {
    const PortReport& p = *ports[i];
    const LinkRetryCounters& llr = p.counters.llr;
    fmt::format_to(out, "  {:<14} {:<14} {:>8} {:>8} {:>10} {:>10} {:>10}\n", fmt::format("{}:{}", p.node, p.port),
                   p.peer, count_text(llr.frames), count_text(llr.replays), time_text(llr.least_late),
                   time_text(llr.mean_late()), time_text(llr.most_late));
  }
  if (ports.size() > kMostPorts) fmt::format_to(out, "  and {} more\n", ports.size() - kMostPorts);
}

// A few names, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kSome = 4;
  const std::vector<std::string> few(names.begin(),
                                     names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kSome)));
  return names.size() > kSome ? fmt::format("{} and {} more", fmt::join(few, ", "), names.size() - kSome)
                              : fmt::format("{}", fmt::join(few, ", "));
}

void tree_lines(Out out, const Report& r) {
  constexpr std::size_t kMostTrees = 3;
  const auto& trees = r.pause_trees.widest();
  if (trees.empty()) return;
  fmt::format_to(out, "\nPFC pause tree at its widest ({}): congestion root first, then the ports it paused\n",
                 time_text(r.pause_trees.widest_at() - Instant{}));
  for (std::size_t i = 0; i < std::min(trees.size(), kMostTrees); ++i) {
    fmt::format_to(out, "  {}\n", trees[i].root);
    for (std::size_t level = 0; level < trees[i].levels.size(); ++level)
      fmt::format_to(out, "  {:{}}<- {}\n", "", 2 * level + 2, some_of(trees[i].levels[level]));
  }
  if (trees.size() > kMostTrees) fmt::format_to(out, "  and {} more roots\n", trees.size() - kMostTrees);
}

void storm_lines(Out out, const Report& r) {
  constexpr auto kDropped = static_cast<std::size_t>(DropReason::kPfcWatchdog);
  const auto storms = most(
      r, [](const Place& p) { return p.counters->storms_detected > 0; },
      [](const Place& p) { return p.counters->storms_detected; });
  if (storms.empty()) return;
  fmt::format_to(out, "\nPFC watchdog: queues with a pause storm\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>9} {:>9} {:>12}\n", "port", "paused by", "class", "detected",
                 "restored", "dropped");
  for (std::size_t i = 0; i < std::min(storms.size(), kMostPorts); ++i)
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>9} {:>9} {:>12}\n", storms[i].name(), storms[i].port->peer,
                   storms[i].priority, count_text(storms[i].counters->storms_detected),
                   count_text(storms[i].counters->storms_restored), count_text(storms[i].counters->drops[kDropped]));
  if (storms.size() > kMostPorts) fmt::format_to(out, "  and {} more\n", storms.size() - kMostPorts);
}

void deadlock_lines(Out out, const Report& r) {
  for (const telemetry::DeadlockWatch::Seen& d : r.deadlocks)
    fmt::format_to(out, "\nDEADLOCK since {}: these queues wait for each other in a circle{}:\n  {}\n",
                   time_text(d.since - Instant{}),
                   d.resolved ? fmt::format(" (resolved at {})", time_text(*d.resolved - Instant{})) : std::string(),
                   fmt::join(d.ring, "\n  "));
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
  const auto queued = queues(r);
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
  const bool none = std::ranges::none_of(queued, [](const Place& p) { return is_of_interest(*p.counters); });
  fmt::format_to(out, "\nIn short: ");
  if (none) {
    fmt::format_to(out, "no queueing");
  } else {
    const Place& root = queued.front();
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

void engine_lines(Out out, const Report& r) {
  const EngineReport& e = r.engine;
  fmt::format_to(
      out,
      "\nEngine: {} packet-hops in {:.2f} s of CPU ({:.2f} M per core-second), {:.2f} s of wall time, {} of memory\n",
      count_text(e.packet_hops), e.cpu_seconds,
      e.cpu_seconds > 0 ? static_cast<double>(e.packet_hops) / e.cpu_seconds / 1e6 : 0, e.wall_seconds,
      size_text(e.peak_rss_bytes));
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

std::string Report::text() const {
  std::string text;
  const Out out = std::back_inserter(text);
  heading(out, *this);
  if (!flows.empty() && flows.size() <= kMostFlows) text += flow_text(flows);
  if (flows.size() > kMostFlows) traffic_lines(out, *this);
  if (const std::string roce = roce_text(flows); !roce.empty()) text += "\n" + roce;
  if (const std::string uet = uet_text(flows, uet_nics); !uet.empty()) text += "\n" + uet;
  if (const std::string text_of = collective_text(collectives); !text_of.empty()) text += "\n" + text_of;
  if (const std::string services = service_text(service_nics, rpings); !services.empty()) text += "\n" + services;
  queue_lines(out, *this);
  path_lines(out, *this);
  pause_lines(out, *this);
  not_enabled_lines(out, *this);
  stall_lines(out, *this);
  tree_lines(out, *this);
  order_lines(out, *this);
  threshold_lines(out, *this);
  storm_lines(out, *this);
  deadlock_lines(out, *this);
  trim_lines(out, *this);
  llr_lines(out, *this);
  drop_lines(out, *this);
  fault_lines(out, *this);
  if (in_band) text += "\n" + int_text(*in_band);
  story(out, *this);
  verdict_lines(out, *this);
  expectation_lines(out, *this);
  if (!run.diagnosis.empty()) text += "\n" + diagnosis_text(*this);
  engine_lines(out, *this);
  return text;
}

}  // namespace railyard::report
