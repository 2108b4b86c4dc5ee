// Rates over time, from the files that telemetry::QueueSeries and FlowSeries wrote.
#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/report/html/chart.h"
#include "control/report/html/csv_rows.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostSteps = 240;

// What a file says of time, and of how much each of its names has carried.
struct Totals {
  std::map<std::string, std::uint64_t, std::less<>> octets;
  std::uint64_t every_ns = 0;  // between two samples; 0: there was one at most
  std::uint64_t end_ns = 0;
};

// `column`: of bytes since the sample before. Names are in the second column.
template <class F>
void for_each_amount(const std::string& file, std::size_t column, F&& f) {
  for_each_row(file, column + 1, [&](std::span<const std::string_view> cells) {
    const auto at = number_in(cells[0]);
    const auto octets = number_in(cells[column]);
    if (at && octets) f(*at, cells[1], *octets);
  });
}

Totals totals_of(const std::string& file, std::size_t column) {
  Totals t;
  for_each_amount(file, column, [&](std::uint64_t at, std::string_view name, std::uint64_t octets) {
    if (const auto found = t.octets.find(name); found != t.octets.end()) {
      found->second += octets;
    } else {
      t.octets.emplace(name, octets);
    }
    if (at > t.end_ns && t.end_ns > 0) t.every_ns = std::min(t.every_ns == 0 ? at : t.every_ns, at - t.end_ns);
    t.end_ns = std::max(t.end_ns, at);
  });
  if (t.every_ns == 0) t.every_ns = t.end_ns;
  std::erase_if(t.octets, [](const auto& entry) { return entry.second == 0; });
  return t;
}

// A line for each that carried most.
std::string chart_of(const std::string& file, std::size_t column, const std::string& title, const std::string& what) {
  const Totals totals = totals_of(file, column);
  if (totals.octets.empty()) return {};
  std::vector<std::pair<std::string, std::uint64_t>> order(totals.octets.begin(), totals.octets.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (order.size() > kMostLines) order.resize(kMostLines);
  // Whole samples: each counts the time since the one before.
  const std::uint64_t samples = (totals.end_ns + totals.every_ns - 1) / totals.every_ns;
  const std::uint64_t width = totals.every_ns * ((samples + kMostSteps - 1) / kMostSteps);
  const std::size_t steps = static_cast<std::size_t>((totals.end_ns + width - 1) / width);
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> courses;
  for (const auto& [name, octets] : order) courses[name].resize(steps);
  for_each_amount(file, column, [&](std::uint64_t at, std::string_view name, std::uint64_t octets) {
    if (const auto found = courses.find(name); found != courses.end() && at > 0)
      found->second[static_cast<std::size_t>((at - 1) / width)] += octets;
  });
  Chart chart{title,
              {"time", false, [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); }},
              {"rate, means of each " + nanoseconds_text(width), false, [](double bps) { return rate_text(bps); }},
              {},
              {},
              0};
  for (const auto& [name, octets] : order) {
    Line line{name, {}, true};
    const std::vector<std::uint64_t>& course = courses[name];
    for (std::size_t i = 0; i <= steps; ++i)
      line.points.emplace_back(static_cast<double>(i * width),
                               static_cast<double>(course[std::min(i, steps - 1)]) * 8e9 / static_cast<double>(width));
    line.note = "up to " + rate_text(std::ranges::max_element(line.points, {}, &std::pair<double, double>::second)->second);
    chart.lines.push_back(std::move(line));
  }
  const std::string note = totals.octets.size() > order.size()
                               ? fmt::format("{} of {} {}: those that carried most.", order.size(),
                                             count_text(totals.octets.size()), what)
                               : fmt::format("All {} {}, the largest first.", order.size(), what);
  return strips_html(chart) + paragraph(note, "note");
}

}  // namespace

std::string link_rates_section(const std::string& series_file) {
  constexpr std::size_t kTxBytes = 5;
  return chart_of(series_file, kTxBytes, "Rates of the busiest ports",
                  "ports (frames sent, without preamble and gap)");
}

std::string flow_rates_section(const std::string& flow_series_file) {
  constexpr std::size_t kDeliveredBytes = 3;
  return chart_of(flow_series_file, kDeliveredBytes, "Goodput of the largest flows", "flows");
}

}  // namespace railyard::report
