// Per traffic: what its flows got, how long they took, how late their packets came.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "control/report/html/chart.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/summary.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostTraffics = 40;

std::string ns_or_dash(const Spread& s, double Spread::*member) {
  return s.count == 0 ? "-" : nanoseconds_text(static_cast<std::uint64_t>(s.*member));
}
std::string rate_or_dash(const Spread& s, double Spread::*member) { return s.count == 0 ? "-" : rate_text(s.*member); }
std::string number_or_dash(const Spread& s, double Spread::*member) {
  return s.count == 0 ? "-" : fmt::format("{:.2f}", s.*member);
}

std::string goodput_table(const Report& r) {
  Table table({{"traffic", true},
               {"pattern", true},
               {"transport", true},
               {"flows"},
               {"complete", false, "of finite flows"},
               {"delivered"},
               {"total", false, "from the first flow's start to the end of the last goodput interval"},
               {"min"},
               {"median"},
               {"max"},
               {"of limit", false, "median flow: goodput / rate of the slower NIC or of the flow, less framing"},
               {"Jain", false, "Jain's index of the flows' goodputs: 1 is even"}});
  for (std::size_t i = 0; i < std::min(r.traffic.size(), kMostTraffics); ++i) {
    const TrafficReport& t = r.traffic[i];
    table.row({t.name, t.pattern, t.transport, count_text(t.flows),
               t.with_end == 0 ? "-" : fmt::format("{} of {}", count_text(t.complete), count_text(t.with_end)),
               t.measured > 0 ? size_text(t.delivered_bytes) : "-", rate_text(t.goodput_total_bps),
               rate_or_dash(t.goodput_bps, &Spread::min), rate_or_dash(t.goodput_bps, &Spread::p50),
               rate_or_dash(t.goodput_bps, &Spread::max), t.share.count == 0 ? "-" : percent_text(t.share.p50),
               t.jain <= 0 ? "-" : fmt::format("{:.3f}", t.jain)},
              t.complete < t.with_end || t.failed > 0 ? "bad" : "");
  }
  return "<h3>Goodput</h3>\n" + table.html();
}

std::string times_table(const Report& r) {
  Table table({{"traffic", true},
               {"FCT mean"},
               {"p50"},
               {"p99"},
               {"max"},
               {"slowdown p50", false, "FCT / FCT on an empty fabric"},
               {"p99"},
               {"packet latency p50"},
               {"p90"},
               {"p99"},
               {"p99.9"},
               {"p99.99"},
               {"max"},
               {"budget", false, "at the percentile of run.budgets"}});
  for (std::size_t i = 0; i < std::min(r.traffic.size(), kMostTraffics); ++i) {
    const TrafficReport& t = r.traffic[i];
    const std::optional<bool> within = is_within(r.budgets, t.latency_ns);
    const Percentiles& l = t.latency_ns;
    table.row({t.name, ns_or_dash(t.fct_ns, &Spread::mean), ns_or_dash(t.fct_ns, &Spread::p50),
               ns_or_dash(t.fct_ns, &Spread::p99), ns_or_dash(t.fct_ns, &Spread::max),
               number_or_dash(t.slowdown, &Spread::p50), number_or_dash(t.slowdown, &Spread::p99),
               time_text(l, &Percentiles::p50), time_text(l, &Percentiles::p90), time_text(l, &Percentiles::p99),
               time_text(l, &Percentiles::p999), time_text(l, &Percentiles::p9999), time_text(l, &Percentiles::max),
               t.latency_samples == 0 || !within ? "-"
               : *within                         ? "within"
                                                 : "over"},
              t.latency_samples > 0 && within == false ? "bad" : "");
  }
  return "<h3>Times</h3>\n" +
         table.html(fmt::format("Latency: first byte sent to arrival of the whole packet at the other NIC; {} packets. "
                                "Budget: {}.",
                                count_text(r.latency_samples),
                                r.budgets.scale_out
                                    ? escaped_html(time_text(*r.budgets.scale_out)) + " NIC to NIC (run.budgets)"
                                    : std::string("none (set run.budgets.scale-out)")));
}

std::string repair_table(const Report& r) {
  Table table({{"traffic", true},
               {"packets"},
               {"lost"},
               {"retransmitted"},
               {"out of order", false, std::string(kind_of("out_of_order").meaning)},
               {"received with CE"},
               {"CNPs"},
               {"QPs in error"}});
  for (std::size_t i = 0; i < std::min(r.traffic.size(), kMostTraffics); ++i) {
    const TrafficReport& t = r.traffic[i];
    const auto received = [&](std::uint64_t count) { return t.measured > 0 ? count_text(count) : "-"; };
    table.row(
        {t.name, count_text(t.packets), received(t.lost), count_text(t.retransmitted), received(t.reordered),
         t.arrived > 0 ? percent_text(ratio_of(t.marked, t.arrived)) : "-", count_text(t.cnps), count_text(t.failed)},
        t.failed > 0 ? "bad" : "");
  }
  return "<h3>Loss, retransmissions, marks</h3>\n" +
         table.html(r.traffic.size() > kMostTraffics
                        ? fmt::format("and {} more in report.json", r.traffic.size() - kMostTraffics)
                        : std::string());
}

std::string latency_chart(const Report& r) {
  Chart c;
  c.title = "Packet latency, as a distribution";
  c.x = {"latency", true, [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); }};
  // 1 - F on a scale of nines.
  c.y = {"share of the packets, at or below", false, [](double nines) {
           static constexpr const char* kWords[] = {"0", "90 %", "99 %", "99.9 %", "99.99 %"};
           return std::string(kWords[std::clamp(static_cast<int>(std::lround(nines)), 0, 4)]);
         }};
  for (const TrafficReport& t : r.traffic) {
    if (t.latency_points.empty() || c.lines.size() == kMostLines) continue;
    Line line{t.name, {}, false};
    for (const TrafficReport::Point& p : t.latency_points)
      line.points.emplace_back(static_cast<double>(std::max<std::uint64_t>(p.ns, 1)),
                               std::min(4.0, -std::log10(std::max(1e-4, 1 - p.fraction))));
    c.lines.push_back(std::move(line));
  }
  if (r.budgets.scale_out) {
    c.mark_name = "budget " + time_text(*r.budgets.scale_out);
    c.mark_x = static_cast<double>(nanoseconds(*r.budgets.scale_out));
  }
  const std::string drawn = chart_html(c);
  return drawn.empty() ? drawn : "<h3>Packet latency distribution</h3>\n" + drawn;
}

std::string size_tables(const Report& r) {
  std::string out;
  for (const TrafficReport& t : r.traffic) {
    if (t.by_size.empty()) continue;
    Table table({{"size", true},
                 {"flows"},
                 {"complete"},
                 {"FCT mean"},
                 {"p50"},
                 {"p95"},
                 {"p99"},
                 {"max"},
                 {"slowdown mean"},
                 {"p50"},
                 {"p95"},
                 {"p99"},
                 {"max"}});
    for (const SizeBin& b : t.by_size)
      table.row({b.from == 0 ? "less than " + size_text(b.below)
                             : fmt::format("{} to {}", size_text(b.from), size_text(b.below)),
                 count_text(b.flows), count_text(b.fct_ns.count), ns_or_dash(b.fct_ns, &Spread::mean),
                 ns_or_dash(b.fct_ns, &Spread::p50), ns_or_dash(b.fct_ns, &Spread::p95),
                 ns_or_dash(b.fct_ns, &Spread::p99), ns_or_dash(b.fct_ns, &Spread::max),
                 number_or_dash(b.slowdown, &Spread::mean), number_or_dash(b.slowdown, &Spread::p50),
                 number_or_dash(b.slowdown, &Spread::p95), number_or_dash(b.slowdown, &Spread::p99),
                 number_or_dash(b.slowdown, &Spread::max)});
    Chart c;
    c.title = "Slowdown by size, " + t.name;
    c.x = {"size", true, [](double v) { return size_text(static_cast<std::uint64_t>(v)); }};
    c.y = {"slowdown", false, [](double v) { return fmt::format("{:g}", v); }};
    Line median{"p50", {}, false};
    Line tail{"p99", {}, false};
    for (const SizeBin& b : t.by_size) {
      if (b.slowdown.count == 0) continue;
      const double x = b.from == 0 ? 10 : std::sqrt(static_cast<double>(b.from) * static_cast<double>(b.below));
      median.points.emplace_back(x, b.slowdown.p50);
      tail.points.emplace_back(x, b.slowdown.p99);
    }
    c.lines = {std::move(median), std::move(tail)};
    out += fmt::format("<h3>{} by size</h3>\n", escaped_html(t.name)) + table.html() + chart_html(c);
  }
  return out;
}

}  // namespace

std::string traffic_section(const Report& r) {
  if (r.traffic.empty()) return {};
  return goodput_table(r) + times_table(r) + repair_table(r) + latency_chart(r) + size_tables(r);
}

}  // namespace railyard::report
