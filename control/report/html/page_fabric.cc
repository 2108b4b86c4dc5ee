// The fabric: links, queues, marks, pauses, drops.
#include <algorithm>

#include <fmt/format.h>

#include "control/report/drop_places.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/pause_totals.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostFabricRows = 24;

// One class of one port.
struct QueueOf {
  const PortReport* port;
  std::size_t priority;
  const ClassCounters* counters;
  std::string name() const { return fmt::format("{}:{}", port->node, port->port); }
  // Whether more has happened than that a frame waited for the one before it.
  bool waited() const {
    const ClassCounters& c = *counters;
    return c.ecn_marked > 0 || (c.tx_packets > 0 && c.max_depth_octets > 2 * (c.tx_octets / c.tx_packets));
  }
  std::uint64_t drops() const { return egress_drops(*counters); }
};

template <class Keep, class Amount>
std::vector<QueueOf> queues_by(const Report& r, Keep keep, Amount amount) {
  std::vector<QueueOf> out;
  for (const PortReport& p : r.ports)
    for (std::size_t k = 0; k < kPriorities; ++k)
      if (QueueOf q{&p, k, &p.counters.classes[k]}; keep(q)) out.push_back(q);
  std::ranges::stable_sort(out, [&](const QueueOf& a, const QueueOf& b) { return amount(a) > amount(b); });
  return out;
}

std::string and_more(std::size_t all, std::string_view what) {
  return all > kMostFabricRows
             ? fmt::format("The first {} of {} {}; report.json has all.", kMostFabricRows, count_text(all), what)
             : std::string();
}

std::string instant_text(Instant at) { return at == Instant::never() ? "-" : time_text(at - Instant{}); }

std::string tier_table(const Report& r) {
  Table table({{"links", true},
               {"number"},
               {"carried"},
               {"utilisation mean"},
               {"p95"},
               {"max"},
               {"max/mean", false, "bytes / link rate: 1 is even"},
               {"Jain", false, "of bytes / link rate: 1 is even"},
               {"busiest", true}});
  for (const LinkTier& t : r.link_tiers)
    table.row({t.name, count_text(t.links), size_text(t.bytes), percent_text(t.mean_utilisation),
               percent_text(t.p95_utilisation), percent_text(t.max_utilisation),
               t.bytes == 0 ? "-" : fmt::format("{:.2f}", t.max_over_mean),
               t.bytes == 0 ? "-" : fmt::format("{:.3f}", t.jain), t.busiest});
  return table.html("Each direction separately, with preamble and gap, in the load interval: until traffic ended.");
}

std::string group_table(const Report& r) {
  std::vector<const PathGroupReport*> groups;
  for (const PathGroupReport& g : r.path_groups)
    if (g.bytes() > 0) groups.push_back(&g);
  if (groups.empty()) return {};
  std::ranges::stable_sort(groups, {}, [](const PathGroupReport* g) { return g->jain_index(); });
  Table table({{"switch", true}, {"members"}, {"carried"}, {"max/mean"}, {"Jain"}, {"most went to", true}});
  for (std::size_t i = 0; i < std::min(groups.size(), kMostFabricRows); ++i) {
    const PathGroupReport& g = *groups[i];
    const auto most = std::ranges::max_element(g.members, {}, &PathGroupReport::Member::bytes);
    table.row({g.node, count_text(g.members.size()), size_text(g.bytes()), fmt::format("{:.2f}", g.max_over_mean()),
               fmt::format("{:.3f}", g.jain_index()), fmt::format("{} ({})", most->port, most->peer)});
  }
  return "<h3>ECMP balance: groups of next hops, worst first</h3>\n" + table.html(and_more(groups.size(), "groups"));
}

std::string port_table(const Report& r) {
  std::vector<const PortReport*> ports;
  for (const PortReport& p : r.ports)
    if (p.counters.tx_packets() > 0) ports.push_back(&p);
  if (ports.empty()) return {};
  std::ranges::stable_sort(ports, [](const auto* a, const auto* b) { return a->utilisation > b->utilisation; });
  Table table({{"port", true}, {"towards", true}, {"rate"}, {"utilisation"}, {"sent"}, {"received"}, {"lost on link"}});
  for (std::size_t i = 0; i < std::min(ports.size(), kMostFabricRows); ++i) {
    const PortReport& p = *ports[i];
    table.row({fmt::format("{}:{}", p.node, p.port), p.peer, rate_text(static_cast<double>(p.rate_bps)),
               percent_text(p.utilisation), size_text(p.counters.tx_octets()), size_text(p.counters.rx_octets()),
               count_text(p.counters.lost)},
              p.counters.lost > 0 ? "bad" : "");
  }
  return "<h3>Busiest ports</h3>\n" + table.html(and_more(ports.size(), "ports"));
}

std::string threshold_table(const Report& r) {
  if (r.thresholds.empty()) return {};
  Table table({{"switches", true},
               {"class"},
               {"threshold", true},
               {"configured"},
               {"cells", false, "switches compare whole cells"},
               {"frame", false, "longest data frame of the lab in this class"},
               {"effective", false, "in frames of that size"}});
  for (std::size_t i = 0; i < std::min(r.thresholds.size(), kMostFabricRows); ++i) {
    const EffectiveThreshold& t = r.thresholds[i];
    table.row({t.profile, fmt::format("{}", t.priority), t.where.empty() ? t.name : t.name + " at " + t.where,
               size_text(static_cast<std::uint64_t>(t.configured.n)), count_text(t.cells), size_text(t.frame),
               size_text(static_cast<std::uint64_t>(t.effective.n))});
  }
  return "<h3>Thresholds: configured and effective</h3>\n" + table.html(and_more(r.thresholds.size(), "thresholds"));
}

std::string depth_table(const Report& r) {
  const auto queues = queues_by(
      r, [](const QueueOf& q) { return q.port->is_switch && (q.waited() || q.drops() > 0); },
      [](const QueueOf& q) { return q.counters->max_depth_octets; });
  if (queues.empty()) return {};
  Table table({{"port", true},
               {"towards", true},
               {"class"},
               {"deepest"},
               {"= waiting", false, "at the link rate"},
               {"CE marks"},
               {"marked", false, "share of the frames sent"},
               {"first CE"},
               {"first XOFF", false, "of an ingress group behind this queue"},
               {"trimmed"},
               {"drops"}});
  for (std::size_t i = 0; i < std::min(queues.size(), kMostFabricRows); ++i) {
    const QueueOf& q = queues[i];
    const ClassCounters& c = *q.counters;
    const double waiting = q.port->rate_bps > 0
                               ? static_cast<double>(c.max_depth_octets) * 8e9 / static_cast<double>(q.port->rate_bps)
                               : 0;
    table.row(
        {q.name(), q.port->peer, fmt::format("{}", q.priority), size_text(c.max_depth_octets),
         nanoseconds_text(static_cast<std::uint64_t>(waiting)), count_text(c.ecn_marked),
         c.tx_packets == 0 ? "-" : percent_text(static_cast<double>(c.ecn_marked) / static_cast<double>(c.tx_packets)),
         instant_text(c.first_ce), instant_text(c.first_xoff), count_text(c.trimmed), count_text(q.drops())},
        c.first_xoff < c.first_ce || q.drops() > 0 ? "bad" : "");
  }
  return "<h3>Deepest egress queues</h3>\n" + table.html(and_more(queues.size(), "queues"));
}

std::string first_table(const Report& r) {
  const CeAndXoff o = ce_and_xoff(r);
  if (o.queues == 0)
    return paragraph(fmt::format("No ingress group crossed its XOFF threshold; {}.", pause_totals(r).text()));
  return paragraph(fmt::format(
      "{} of {} congested queue{} marked CE before XOFF; {} marked after XOFF; {} never marked. Marks should "
      "come first, to slow senders down before PFC pauses them. {}.",
      o.ce_first, o.queues, o.queues == 1 ? "" : "s", o.xoff_first, o.never_marked, pause_totals(r).text()));
}

// The same where senders have credits instead of pauses.
std::string stall_table(const Report& r) {
  const auto stalled = queues_by(
      r, [](const QueueOf& q) { return q.counters->stalled > Duration{}; },
      [](const QueueOf& q) { return q.counters->stalled.ps; });
  if (stalled.empty()) return {};
  Table table({{"port", true}, {"credits of", true}, {"class"}, {"waited"}, {"of time"}});
  for (std::size_t i = 0; i < std::min(stalled.size(), kMostFabricRows); ++i) {
    const QueueOf& q = stalled[i];
    table.row({q.name(), q.port->peer, fmt::format("{}", q.priority), time_text(q.counters->stalled),
               percent_text(q.port->stall_share[q.priority])});
  }
  return "<h3>Ports that waited for credits (CBFC)</h3>\n" + table.html(and_more(stalled.size(), "port-classes"));
}

std::string pause_table(const Report& r) {
  const auto paused = queues_by(
      r, [](const QueueOf& q) { return q.counters->paused > Duration{}; },
      [](const QueueOf& q) { return q.counters->paused.ps; });
  if (paused.empty()) return {};
  Table table({{"port", true}, {"paused by", true}, {"class"}, {"paused"}, {"of time"}, {"XOFFs received"}});
  for (std::size_t i = 0; i < std::min(paused.size(), kMostFabricRows); ++i) {
    const QueueOf& q = paused[i];
    table.row({q.name(), q.port->peer, fmt::format("{}", q.priority), time_text(q.counters->paused),
               percent_text(q.port->pause_share[q.priority]), count_text(q.counters->xoff_received)});
  }
  std::string out = "<h3>Ports paused by PFC</h3>\n" + table.html(and_more(paused.size(), "port-classes"));
  for (const telemetry::DeadlockWatch::Seen& d : r.deadlocks)
    out += paragraph(fmt::format("<b>Deadlock</b> since {}: {}", time_text(d.since - Instant{}),
                                 escaped_html(fmt::format("{}", fmt::join(d.ring, " waits for ")))));
  return out;
}

std::string not_enabled_table(const Report& r) {
  const auto ignored = queues_by(
      r, [](const QueueOf& q) { return q.counters->pfc_not_enabled > 0; },
      [](const QueueOf& q) { return q.counters->pfc_not_enabled; });
  if (ignored.empty()) return {};
  Table table({{"port", true}, {"sent by", true}, {"class"}, {"requests"}});
  for (std::size_t i = 0; i < std::min(ignored.size(), kMostFabricRows); ++i) {
    const QueueOf& q = ignored[i];
    table.row({q.name(), q.port->peer, fmt::format("{}", q.priority), count_text(q.counters->pfc_not_enabled)});
  }
  return "<h3>Ignored PFC requests (PFC not enabled for the class at the receiver)</h3>\n" +
         table.html(and_more(ignored.size(), "port-classes"));
}

std::string drop_table(const Report& r) {
  const std::vector<DropPlace> places = drop_places(r);
  Table table({{"reason", true}, {"frames"}, {"side", true}, {"at", true}});
  for (std::size_t i = 0; i < std::min(places.size(), kMostFabricRows); ++i)
    table.row({std::string(name(places[i].reason)), count_text(places[i].frames), std::string(word(places[i].side)),
               places[i].name()});
  if (r.audit.lost_on_links > 0) table.row({"lost on links", count_text(r.audit.lost_on_links), "", ""});
  return table.empty() ? paragraph("No frames were dropped.") : table.html(and_more(places.size(), "places"));
}

std::string llr_table(const Report& r) {
  std::vector<const PortReport*> ports;
  for (const PortReport& p : r.ports)
    if (p.counters.llr.replays > 0) ports.push_back(&p);
  if (ports.empty()) return {};
  std::ranges::stable_sort(
      ports, [](const auto* a, const auto* b) { return a->counters.llr.replays > b->counters.llr.replays; });
  Table table({{"port", true}, {"to", true}, {"frames"}, {"replays"}, {"min added delay"}, {"mean"}, {"max"}});
  for (std::size_t i = 0; i < std::min(ports.size(), kMostFabricRows); ++i) {
    const LinkRetryCounters& llr = ports[i]->counters.llr;
    table.row({fmt::format("{}:{}", ports[i]->node, ports[i]->port), ports[i]->peer, count_text(llr.frames),
               count_text(llr.replays), time_text(llr.least_late), time_text(llr.mean_late()),
               time_text(llr.most_late)});
  }
  return "<h3>Link-level retry (LLR)</h3>\n" + table.html(and_more(ports.size(), "ports"));
}

std::string fault_table(const Report& r) {
  if (r.faults.empty()) return {};
  Table table({{"fault", true}, {"what", true}, {"on", true}, {"times"}, {"frames"}, {"now", true}});
  for (std::size_t i = 0; i < std::min(r.faults.size(), kMostFabricRows); ++i) {
    const fault::FaultStatus& f = r.faults[i];
    table.row({f.name, f.what, f.where, count_text(f.occurrences), f.counts_frames ? count_text(f.frames) : "-",
               f.active ? "active" : ""});
  }
  return "<h3>Faults</h3>\n" + table.html(and_more(r.faults.size(), "faults"));
}

}  // namespace

std::string links_section(const Report& r) { return tier_table(r) + group_table(r) + port_table(r); }
std::string queues_section(const Report& r) {
  return first_table(r) + depth_table(r) + pause_table(r) + not_enabled_table(r) + stall_table(r) + threshold_table(r);
}
std::string drops_section(const Report& r) { return drop_table(r) + llr_table(r) + fault_table(r); }

}  // namespace railyard::report
