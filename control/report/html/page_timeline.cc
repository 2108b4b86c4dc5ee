// Per collective whose steps are recorded: a row per rank of what it did when in the longest iteration, what ranks spend
// their time on, and the critical path.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

using Part = TimelineReport::Part;

constexpr std::size_t kMostTimelines = 8;
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kMostRanks = 64;
constexpr std::size_t kMostHops = 12;

std::string time(std::int64_t ns) { return nanoseconds_text(static_cast<std::uint64_t>(ns)); }

// Its picture: a row per rank, in it a path for what it computes and one for communication; where it idles there is none.
std::string rows_svg(const CollectiveReport& c) {
  constexpr std::size_t kRow = 14, kBar = 10;
  const TimelineReport& t = *c.timeline;
  const std::size_t rows = std::min(t.picture.size(), kMostRows);
  std::string body, names;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::vector<Part>& row = t.picture[r];
    std::string computing, communicating;
    for (std::size_t from = 0, to = 0; from < row.size(); from = to) {
      while (to < row.size() && row[to] == row[from]) ++to;
      if (row[from] != Part::kIdle)
        (row[from] == Part::kCompute ? computing : communicating) +=
            fmt::format("M{} {}h{}v{}h-{}z", from, r * kRow + (kRow - kBar) / 2, to - from, kBar, to - from);
    }
    body += fmt::format("<g><title>rank {} ({}): compute {}, communication {}, idle {}</title><path class=\"k\" d=\"{}\"/><path class=\"x\" d=\"{}\"/></g>",
                        r, escaped_html(t.names[r]), percent_text(t.ranks[r].compute), percent_text(t.ranks[r].exposed),
                        percent_text(t.ranks[r].idle), computing, communicating);
    names += fmt::format("<span>{} {}</span>", r, escaped_html(t.names[r]));
  }
  return fmt::format(
      "<figure class=\"timeline\" role=\"img\" aria-label=\"Timeline of {0}, iteration {1}\"><div class=\"rows\"><div class=\"names\">{2}</div>"
      "<svg viewBox=\"0 0 {3} {4}\" preserveAspectRatio=\"none\" style=\"height:{4}px\">{5}</svg></div>"
      "<figcaption>{0}, iteration {1}: 0 to {6}. <b class=\"k\"></b> compute <b class=\"x\"></b> exposed communication "
      "<b></b> idle{7}</figcaption></figure>\n",
      escaped_html(c.name), t.path.repeat, names, TimelineReport::kParts, rows * kRow, body, time(t.path.ns),
      t.ranks.size() > rows ? fmt::format("; the first {} of {} ranks", rows, t.ranks.size()) : std::string());
}

std::string ranks_table(const CollectiveReport& c) {
  const TimelineReport& t = *c.timeline;
  std::vector<std::size_t> order(t.ranks.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() > kMostRanks) std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t r) { return t.ranks[r].idle; });
  Table table({{"rank of " + c.name, true},
               {"compute"},
               {"communication", false, "messages to or from the rank are under way, and it does not compute"},
               {"idle", false, "neither: the bubble"},
               {"waits longest for", true},
               {"for", false, "in all iterations together"}});
  for (std::size_t i = 0; i < std::min(order.size(), kMostRanks); ++i) {
    const TimelineReport::Rank& r = t.ranks[order[i]];
    table.row({fmt::format("{} ({})", order[i], t.names[order[i]]), percent_text(r.compute), percent_text(r.exposed),
               percent_text(r.idle), r.waits_for.empty() ? "-" : r.waits_for, r.waits_for.empty() ? "-" : time(r.waits_ns)});
  }
  return table.html(order.size() > kMostRanks ? fmt::format("the most idle ranks; {} more in report.json", order.size() - kMostRanks) : std::string());
}

std::string path_table(const CollectiveReport& c) {
  const TimelineReport& t = *c.timeline;
  const auto of_path = [&](std::int64_t ns) {
    return percent_text(t.path.ns > 0 ? static_cast<double>(ns) / static_cast<double>(t.path.ns) : 0);
  };
  Table table({{"critical path of " + c.name, true}, {"time"}, {"share"}, {"messages"}, {"bytes"}, {"busiest links", true}});
  for (std::size_t i = 0; i < std::min(t.path.ranks.size(), kMostHops); ++i) {
    const auto& [rank, ns] = t.path.ranks[i];
    table.row({fmt::format("compute at rank {} ({})", rank, t.names[rank]), time(ns), of_path(ns), "-", "-", "-"});
  }
  for (std::size_t i = 0; i < std::min(t.path.hops.size(), kMostHops); ++i) {
    const TimelineReport::Hop& h = t.path.hops[i];
    std::string links;
    for (const TimelineReport::Hop::Link& l : h.links)
      links += fmt::format("{}{} {}", links.empty() ? "" : ", ", l.port, percent_text(l.utilisation));
    table.row({fmt::format("messages from rank {} ({}) to rank {} ({})", h.from, t.names[h.from], h.to, t.names[h.to]), time(h.ns),
               of_path(h.ns), count_text(h.messages), size_text(h.bytes), h.scale_up ? "scale-up network" : links.empty() ? "-" : links});
  }
  if (t.path.wait_ns > 0) table.row({"waiting for a stream or the previous iteration", time(t.path.wait_ns), of_path(t.path.wait_ns), "-", "-", "-"});
  return table.html();
}

}  // namespace

std::string timelines_section(const Report& r) {
  std::string out;
  std::size_t n = 0;
  for (const CollectiveReport& c : r.collectives)
    if (c.timeline && n++ < kMostTimelines) out += rows_svg(c) + ranks_table(c) + path_table(c);
  return out;
}

}  // namespace railyard::report
