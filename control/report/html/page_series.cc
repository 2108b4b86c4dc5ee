// Queues over time, from the file that telemetry::QueueSeries wrote.
#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "control/report/html/chart.h"
#include "control/report/html/csv_rows.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostQueues = 6;
constexpr std::size_t kBuckets = 240;

struct Sample {
  std::uint64_t at_ns = 0;
  std::string queue;  // "leaf1:3 class 3"
  std::uint64_t depth = 0, marked = 0, paused_ns = 0, xoff = 0;
};

// time_ns,port,class,depth_bytes,held_cells,tx_bytes,ecn_marked,paused_ns,xoff_sent,dropped
template <class F>
void for_each_sample(const std::string& file, F&& f) {
  for_each_row(file, 9, [&](std::span<const std::string_view> cells) {
    const auto at = number_in(cells[0]), depth = number_in(cells[3]), marked = number_in(cells[6]),
               paused = number_in(cells[7]), xoff = number_in(cells[8]);
    if (at && depth && marked && paused && xoff)
      f(Sample{*at, fmt::format("{} class {}", cells[1], cells[2]), *depth, *marked, *paused, *xoff});
  });
}

}  // namespace

std::string series_section(const std::string& file) {
  std::map<std::string, std::uint64_t> deepest;
  std::uint64_t end = 0;
  for_each_sample(file, [&](const Sample& s) {
    std::uint64_t& d = deepest[s.queue];
    d = std::max(d, s.depth);
    end = std::max(end, s.at_ns);
  });
  std::vector<std::pair<std::string, std::uint64_t>> order(deepest.begin(), deepest.end());
  std::erase_if(order, [](const auto& q) { return q.second == 0; });
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t all = order.size();
  if (all == 0) return paragraph("No queue ever held anything when it was looked at.");
  if (order.size() > kMostQueues) order.resize(kMostQueues);

  const std::uint64_t width = std::max<std::uint64_t>(1, (end + kBuckets) / kBuckets);
  struct Buckets {
    std::vector<double> depth = std::vector<double>(kBuckets + 1, 0);  // the most in each
    std::vector<bool> seen = std::vector<bool>(kBuckets + 1, false);
  };
  std::map<std::string, Buckets> courses;
  for (const auto& [queue, d] : order) courses[queue];
  std::vector<double> marks(kBuckets + 1, 0);
  std::vector<double> xoffs(kBuckets + 1, 0);
  for_each_sample(file, [&](const Sample& s) {
    const std::size_t bucket = std::min<std::size_t>(s.at_ns / width, kBuckets);
    marks[bucket] += static_cast<double>(s.marked);
    xoffs[bucket] += static_cast<double>(s.xoff);
    const auto found = courses.find(s.queue);
    if (found == courses.end()) return;
    double& d = found->second.depth[bucket];
    d = std::max(d, static_cast<double>(s.depth));
    found->second.seen[bucket] = true;
  });
  const auto time = [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); };
  const auto middle = [&](std::size_t bucket) { return static_cast<double>(bucket * width); };
  Chart depth{"Depth of the deepest queues",
              {"time", false, time},
              {"octets", false, [](double v) { return size_text(static_cast<std::uint64_t>(v)); }},
              {},
              {},
              0};
  for (const auto& [queue, d] : order) {
    Line line{queue, {}, false};
    const Buckets& b = courses[queue];
    for (std::size_t i = 0; i <= kBuckets; ++i)
      if (b.seen[i]) line.points.emplace_back(middle(i), b.depth[i]);
    depth.lines.push_back(std::move(line));
  }
  Chart events{"Marks and XOFFs of all queues",
               {"time", false, time},
               {"per " + nanoseconds_text(width), false, [](double v) { return fmt::format("{:g}", v); }},
               {},
               {},
               0};
  Line ce{"CE marks", {}, true};
  Line xoff{"XOFFs sent", {}, true};
  for (std::size_t i = 0; i <= kBuckets; ++i) {
    ce.points.emplace_back(middle(i), marks[i]);
    xoff.points.emplace_back(middle(i), xoffs[i]);
  }
  events.lines = {std::move(ce), std::move(xoff)};
  return "<h3>Depth</h3>\n" + chart_svg(depth) +
         paragraph(fmt::format("The deepest {} of {} queues that ever held anything; of each {} the most.",
                               order.size(), count_text(all), nanoseconds_text(width)),
                   "note") +
         "<h3>Marks and pauses</h3>\n" + chart_svg(events);
}

}  // namespace railyard::report
