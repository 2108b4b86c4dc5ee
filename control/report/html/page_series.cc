// Queues over time, from the file that telemetry::QueueSeries wrote.
#include <algorithm>
#include <map>
#include <numeric>
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
  if (all == 0) return paragraph("All queues were empty at every sample.");
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
              {"depth, the most of each " + nanoseconds_text(width), false, [](double v) { return size_text(static_cast<std::uint64_t>(v)); }},
              {},
              {},
              0};
  for (const auto& [queue, d] : order) {
    Line line{queue, {}, false, "up to " + size_text(d)};
    const Buckets& b = courses[queue];
    for (std::size_t i = 0; i <= kBuckets; ++i)
      if (b.seen[i]) line.points.emplace_back(middle(i), b.depth[i]);
    depth.lines.push_back(std::move(line));
  }
  Chart events{"CE marks and XOFFs, all queues",
               {"time", false, time},
               {"in each " + nanoseconds_text(width), false, [](double v) { return fmt::format("{:g}", v); }},
               {},
               {},
               0};
  const auto some = [](double count) { return count > 0; };
  const bool any_event = std::ranges::any_of(marks, some) || std::ranges::any_of(xoffs, some);
  const auto in_all = [](const std::vector<double>& counts) {
    return count_text(static_cast<std::uint64_t>(std::accumulate(counts.begin(), counts.end(), 0.0))) + " in all";
  };
  Line ce{"CE marks", {}, true, in_all(marks)};
  Line xoff{"XOFFs sent", {}, true, in_all(xoffs)};
  for (std::size_t i = 0; i <= kBuckets; ++i) {
    ce.points.emplace_back(middle(i), marks[i]);
    xoff.points.emplace_back(middle(i), xoffs[i]);
  }
  events.lines = {std::move(ce), std::move(xoff)};
  return "<h3>Depth</h3>\n" + strips_html(depth) +
         paragraph(fmt::format("The deepest {} of {} queues that held a frame.", order.size(), count_text(all)), "note") +
         "<h3>Marks and pauses</h3>\n" +
         (any_event ? strips_html(events, StripScale::kOwn)
                    : paragraph("No frame was marked CE, and no XOFF was sent."));
}

}  // namespace railyard::report
