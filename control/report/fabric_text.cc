#include "control/report/fabric_text.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/drop_places.h"
#include "control/report/port_places.h"
#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostPorts = 8;
constexpr std::size_t kMostGroups = 4;

using Out = std::back_insert_iterator<std::string>;

void queue_lines(Out out, const Report& r) {
  std::vector<PortPlace> queued = used_queues(r);
  const std::size_t all = queued.size();
  std::erase_if(queued, [](const PortPlace& p) { return !is_of_interest(*p.counters); });
  if (queued.empty()) return;
  fmt::format_to(out, "\nDeepest egress queues\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>9} {:>10} {:>12} {:>9} {:>8}\n", "port", "towards", "class", "used",
                 "deepest", "= waiting", "CE marks", "drops");
  for (std::size_t i = 0; i < std::min(queued.size(), kMostPorts); ++i) {
    const PortPlace& p = queued[i];
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
  const auto paused = worst_places(
      r, [](const PortPlace& p) { return p.counters->paused > Duration{}; },
      [](const PortPlace& p) { return p.counters->paused.ps; });
  if (paused.empty()) return;
  fmt::format_to(out, "\nPorts paused by PFC ({} port-class{}, longest first)\n", paused.size(),
                 paused.size() == 1 ? "" : "es");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9} {:>7}\n", "port", "paused by", "class", "paused", "of time",
                 "XOFFs");
  for (std::size_t i = 0; i < std::min(paused.size(), kMostPorts); ++i) {
    const PortPlace& p = paused[i];
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9} {:>7}\n", p.name(), p.port->peer, p.priority,
                   time_text(p.counters->paused), percent_text(p.port->pause_share[p.priority]),
                   count_text(p.counters->xoff_received));
  }
  if (paused.size() > kMostPorts)
    fmt::format_to(out, "  and {} more, up to {}\n", paused.size() - kMostPorts,
                   time_text(paused[kMostPorts].counters->paused));
}

// Pause requests for priorities without PFC: the two ends are configured differently, or a peer sends a storm.
void not_enabled_lines(Out out, const Report& r) {
  const auto ignored = worst_places(
      r, [](const PortPlace& p) { return p.counters->pfc_not_enabled > 0; },
      [](const PortPlace& p) { return p.counters->pfc_not_enabled; });
  if (ignored.empty()) return;
  fmt::format_to(out, "\nIgnored PFC requests: PFC is not enabled for this class at the receiving port\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10}\n", "port", "sent by", "class", "requests");
  for (std::size_t i = 0; i < std::min(ignored.size(), kMostPorts); ++i)
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10}\n", ignored[i].name(), ignored[i].port->peer, ignored[i].priority,
                   count_text(ignored[i].counters->pfc_not_enabled));
  if (ignored.size() > kMostPorts) fmt::format_to(out, "  and {} more\n", ignored.size() - kMostPorts);
}

// The same where senders have credits.
void stall_lines(Out out, const Report& r) {
  const auto stalled = worst_places(
      r, [](const PortPlace& p) { return p.counters->stalled > Duration{}; },
      [](const PortPlace& p) { return p.counters->stalled.ps; });
  if (stalled.empty()) return;
  fmt::format_to(out, "\nPorts that waited for credits, CBFC ({} port-class{}, longest first)\n", stalled.size(),
                 stalled.size() == 1 ? "" : "es");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9}\n", "port", "credits of", "class", "waited", "of time");
  for (std::size_t i = 0; i < std::min(stalled.size(), kMostPorts); ++i) {
    const PortPlace& p = stalled[i];
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>10} {:>9}\n", p.name(), p.port->peer, p.priority,
                   time_text(p.counters->stalled), percent_text(p.port->stall_share[p.priority]));
  }
  if (stalled.size() > kMostPorts)
    fmt::format_to(out, "  and {} more, up to {}\n", stalled.size() - kMostPorts,
                   time_text(stalled[kMostPorts].counters->stalled));
}

// CE marks should come before pauses; where they come late, the thresholds need a change.
void order_lines(Out out, const Report& r) {
  const auto both = worst_places(
      r, [](const PortPlace& p) { return p.port->is_switch && p.counters->first_xoff != Instant::never(); },
      [](const PortPlace& p) { return -(p.counters->first_xoff - Instant{}).ps; });
  if (both.empty()) return;
  fmt::format_to(out, "\nCE or XOFF first (queues whose ingress groups crossed XOFF, earliest first)\n");
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>12} {:>12}\n", "port", "towards", "class", "first CE", "first XOFF");
  for (std::size_t i = 0; i < std::min(both.size(), kMostPorts); ++i) {
    const PortPlace& p = both[i];
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
  const auto trimmed = worst_places(
      r, [](const PortPlace& p) { return p.counters->trimmed > 0; },
      [](const PortPlace& p) { return p.counters->trimmed; });
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
  std::ranges::stable_sort(
      ports, [](const auto* a, const auto* b) { return a->counters.llr.replays > b->counters.llr.replays; });
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
  const auto any = [&](auto member) {
    return std::ranges::any_of(r.ports, [&](const PortReport& p) {
      return std::ranges::any_of(p.counters.classes, [&](const ClassCounters& c) { return c.*member > Duration{}; });
    });
  };
  const bool credits = any(&ClassCounters::stalled);
  const bool pauses = !credits || any(&ClassCounters::paused);
  fmt::format_to(out, "\n{} tree at its widest ({}): congestion root first, then the ports {}\n",
                 !credits  ? "PFC pause"
                 : !pauses ? "CBFC credit"
                           : "PFC and CBFC",
                 time_text(r.pause_trees.widest_at() - Instant{}), credits ? "it held back" : "it paused");
  for (std::size_t i = 0; i < std::min(trees.size(), kMostTrees); ++i) {
    fmt::format_to(out, "  {}\n", trees[i].root);
    for (std::size_t level = 0; level < trees[i].levels.size(); ++level)
      fmt::format_to(out, "  {:{}}<- {}\n", "", 2 * level + 2, some_of(trees[i].levels[level]));
  }
  if (trees.size() > kMostTrees) fmt::format_to(out, "  and {} more roots\n", trees.size() - kMostTrees);
}

void storm_lines(Out out, const Report& r) {
  constexpr auto kDropped = static_cast<std::size_t>(DropReason::kPfcWatchdog);
  const auto storms = worst_places(
      r, [](const PortPlace& p) { return p.counters->storms_detected > 0; },
      [](const PortPlace& p) { return p.counters->storms_detected; });
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

}  // namespace

std::string fabric_text(const Report& report) {
  std::string text;
  const Out out = std::back_inserter(text);
  queue_lines(out, report);
  path_lines(out, report);
  pause_lines(out, report);
  not_enabled_lines(out, report);
  stall_lines(out, report);
  tree_lines(out, report);
  order_lines(out, report);
  threshold_lines(out, report);
  storm_lines(out, report);
  deadlock_lines(out, report);
  trim_lines(out, report);
  llr_lines(out, report);
  return text;
}

}  // namespace railyard::report
