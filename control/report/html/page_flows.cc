// Flow by flow: all of a small lab, the slowest of a large one.
#include <algorithm>

#include <fmt/format.h>

#include "control/report/html/chart.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostFlowRows = 64;
constexpr std::size_t kMostBars = 48;

// Failed and unfinished flows first, then by slowdown, or by latency where there is none.
std::vector<const FlowReport*> worst_first(const Report& r) {
  std::vector<const FlowReport*> flows;
  for (const FlowReport& f : r.flows) flows.push_back(&f);
  const auto badness = [](const FlowReport* f) {
    const bool failed = f->failed();
    const bool unfinished = f->ideal_ns && !f->fct_ns;
    return std::tuple(failed, unfinished, f->slowdown().value_or(0), f->latency_ns.p99);
  };
  std::ranges::stable_sort(flows, [&](const FlowReport* a, const FlowReport* b) { return badness(a) > badness(b); });
  return flows;
}

std::string flow_table(const Report& r, const std::vector<const FlowReport*>& flows) {
  Table table({{"flow", true},
               {"class"},
               {"FCT"},
               {"slowdown", false, "FCT / FCT on an empty fabric"},
               {"goodput"},
               {"limit", false, "rate of the slower NIC or of the flow, less framing"},
               {"of limit"},
               {"latency p50"},
               {"p99"},
               {"p99.9"},
               {"p99.99"},
               {"max"},
               {"budget"},
               {"packets"},
               {"lost"},
               {"retransmitted"},
               {"out of order"},
               {"CE", false, "share of received packets"},
               {"CNPs"}});
  for (std::size_t i = 0; i < std::min(flows.size(), kMostFlowRows); ++i) {
    const FlowReport& f = *flows[i];
    const bool arrived = f.latency_ns.known();
    const auto latency = [&](std::uint64_t Percentiles::*which) { return time_text(f.latency_ns, which); };
    const auto received = [&](std::uint64_t count) { return f.measured ? count_text(count) : "-"; };
    const std::optional<bool> within = is_within(r.budgets, f.latency_ns);
    const bool failed = f.failed();
    table.row({failed ? f.name + " (" + (f.roce ? f.roce->status : f.uet->status) + ")" : f.name,
               fmt::format("{}", f.priority),
               f.fct_ns ? nanoseconds_text(static_cast<std::uint64_t>(*f.fct_ns)) : "-",
               f.slowdown() ? fmt::format("{:.2f}", *f.slowdown()) : "-", rate_text(f.goodput_bps()),
               f.limit_bps > 0 ? rate_text(f.limit_bps) : "-", percent_text(f.share()), latency(&Percentiles::p50),
               latency(&Percentiles::p99), latency(&Percentiles::p999), latency(&Percentiles::p9999),
               latency(&Percentiles::max),
               !arrived || !within ? "-"
               : *within           ? "within"
                                   : "over",
               count_text(f.packets), received(f.lost), f.roce || f.uet ? count_text(f.retransmitted()) : "-",
               received(f.out_of_order()), percent_text(f.ce_share()),
               f.roce ? count_text(f.roce->cnp_handled + f.roce->cnp_ignored) : "-"},
              failed || (arrived && within == false) ? "bad" : "");
  }
  return table.html(flows.size() > kMostFlowRows
                        ? fmt::format("The worst {} of {} flows: failed, incomplete, then by slowdown or latency. "
                                      "report.json has all.",
                                      kMostFlowRows, count_text(flows.size()))
                        : std::string());
}

std::string flows_over_time(const Report& r, const std::vector<const FlowReport*>& flows) {
  const double end = r.engine.simulated_seconds * 1e9;
  std::vector<Bar> bars;
  bool any_end = false;
  for (const FlowReport* f : flows) {
    if (bars.size() == kMostBars || f->packets == 0) continue;
    const auto start = static_cast<double>(f->start_ns);
    any_end |= f->fct_ns.has_value();
    bars.push_back({f->name, start, f->fct_ns ? start + static_cast<double>(*f->fct_ns) : std::max(start, end),
                    !f->fct_ns, f->fct_ns ? nanoseconds_text(static_cast<std::uint64_t>(*f->fct_ns)) : "no end"});
  }
  if (!any_end) return {};
  std::ranges::stable_sort(bars, {}, &Bar::from);
  return "<h3>Over time</h3>\n" +
         time_line_html("Start and completion of flows", bars,
                       [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); }) +
         (flows.size() > kMostBars
              ? paragraph(fmt::format("{} of {} flows.", bars.size(), count_text(flows.size())), "note")
              : std::string());
}

// Flow completion times and goodputs of many flows, as curves.
std::string spread_charts(const Report& r) {
  constexpr std::size_t kMany = 16;
  constexpr std::size_t kMostPoints = 200;
  if (r.flows.size() < kMany) return {};
  Chart fct{"Flow completion times",
            {"FCT", true, [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); }},
            {"share of the flows", false, [](double v) { return percent_text(v); }},
            {},
            {},
            0};
  Chart goodput{"Goodput of flows",
                {"goodput", false, [](double v) { return rate_text(v); }},
                {"share of the flows", false, [](double v) { return percent_text(v); }},
                {},
                {},
                0};
  const auto curve = [](const std::string& name, std::vector<double> values) {
    Line line{name, {}, true};
    std::ranges::sort(values);
    const std::size_t step = std::max<std::size_t>(1, values.size() / kMostPoints);
    for (std::size_t i = 0; i < values.size(); i += step)
      line.points.emplace_back(values[i], static_cast<double>(i + 1) / static_cast<double>(values.size()));
    if (!values.empty() && line.points.back().second < 1) line.points.emplace_back(values.back(), 1);
    return line;
  };
  std::vector<std::vector<double>> times(r.traffic.size());
  std::vector<std::vector<double>> rates(r.traffic.size());
  for (const FlowReport& f : r.flows) {
    if (f.traffic >= r.traffic.size()) continue;
    if (f.fct_ns) times[f.traffic].push_back(static_cast<double>(*f.fct_ns));
    if (const auto bps = f.goodput_bps()) rates[f.traffic].push_back(*bps);
  }
  for (std::size_t t = 0; t < r.traffic.size() && t < kMostLines; ++t) {
    if (!times[t].empty()) fct.lines.push_back(curve(r.traffic[t].name, std::move(times[t])));
    if (!rates[t].empty()) goodput.lines.push_back(curve(r.traffic[t].name, std::move(rates[t])));
  }
  std::string out;
  if (const std::string drawn = chart_html(fct); !drawn.empty()) out += "<h3>Flow completion times</h3>\n" + drawn;
  if (const std::string drawn = chart_html(goodput); !drawn.empty()) out += "<h3>Goodput of flows</h3>\n" + drawn;
  return out;
}

}  // namespace

std::string flows_section(const Report& r) {
  if (r.flows.empty()) return {};
  const std::vector<const FlowReport*> flows = worst_first(r);
  return flow_table(r, flows) + spread_charts(r) + flows_over_time(r, flows);
}

}  // namespace railyard::report
