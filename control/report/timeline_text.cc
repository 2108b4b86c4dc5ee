#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/base/text_table.h"
#include "control/report/timeline_report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

std::string time(std::int64_t ns) { return nanoseconds_text(static_cast<std::uint64_t>(ns)); }

std::string part(const char* what, std::int64_t ns, std::int64_t all) {
  return fmt::format("{} {} ({})", what, time(ns), percent_text(static_cast<double>(ns) / static_cast<double>(all)));
}

}  // namespace

std::string timeline_text(const std::string& name, const TimelineReport& t) {
  constexpr std::size_t kMostRanks = 16;
  constexpr std::size_t kMostParts = 3;
  std::string text;
  const auto out = std::back_inserter(text);
  std::vector<std::size_t> order(t.ranks.size());
  std::iota(order.begin(), order.end(), 0);
  const bool all = order.size() <= kMostRanks;
  if (!all) std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t r) { return t.ranks[r].idle; });
  fmt::format_to(out, "  {}: time of ranks over {} iteration{}: compute {}, exposed communication {}, idle {}{}\n", name,
                 count_text(t.repeats.size()), t.repeats.size() == 1 ? "" : "s", percent_text(t.all.compute),
                 percent_text(t.all.exposed), percent_text(t.all.idle), all ? "" : "; most idle ranks first");
  std::vector<std::vector<std::string>> rows{{"rank", "compute", "communication", "idle", "waits longest for"}};
  for (std::size_t i = 0; i < std::min(order.size(), kMostRanks); ++i) {
    const TimelineReport::Rank& r = t.ranks[order[i]];
    rows.push_back({fmt::format("{} ({})", order[i], t.names[order[i]]), percent_text(r.compute), percent_text(r.exposed),
                    percent_text(r.idle), r.waits_for.empty() ? "-" : fmt::format("{}, {}", r.waits_for, time(r.waits_ns))});
  }
  text += text_table(rows, 5, "    ");
  if (!all) fmt::format_to(out, "    and {} more in report.json\n", order.size() - kMostRanks);
  const TimelineReport::Path& p = t.path;
  if (p.ns <= 0) return text;
  fmt::format_to(out, "  {}: critical path of iteration {}, {}: {}, {}{}{}\n", name, p.repeat, time(p.ns),
                 part("compute", p.compute_ns, p.ns), part("messages", p.message_ns, p.ns),
                 p.acknowledgement_ns > 0 ? ", " + part("acknowledgements", p.acknowledgement_ns, p.ns) : "",
                 p.wait_ns > 0 ? ", " + part("waiting", p.wait_ns, p.ns) : "");
  for (std::size_t i = 0; i < std::min(p.ranks.size(), kMostParts); ++i)
    fmt::format_to(out, "    {} of compute at rank {} ({})\n", time(p.ranks[i].second), p.ranks[i].first,
                   t.names[p.ranks[i].first]);
  for (std::size_t i = 0; i < std::min(p.hops.size(), kMostParts); ++i) {
    const TimelineReport::Hop& h = p.hops[i];
    std::string links;
    for (const TimelineReport::Hop::Link& l : h.links)
      links += fmt::format("{}{} {}", links.empty() ? "; busiest links: " : ", ", l.port, percent_text(l.utilisation));
    fmt::format_to(out, "    {} of messages and acknowledgements from rank {} ({}) to rank {} ({}): {}, {}{}\n", time(h.ns), h.from, t.names[h.from],
                   h.to, t.names[h.to], count_text(h.messages), size_text(h.bytes),
                   h.scale_up ? "; over the scale-up network" : links);
  }
  return text;
}

}  // namespace railyard::report
