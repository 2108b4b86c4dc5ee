#include "control/blast/table.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"
#include "control/report/units.h"

namespace railyard::blast {
namespace {

std::string ns_text(const std::optional<std::int64_t>& ns) {
  return ns ? report::nanoseconds_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *ns))) : "-";
}
std::string stretch_text(const std::optional<double>& stretch) { return stretch ? fmt::format("{:.2f}x", *stretch) : "-"; }

std::string reasons_text(const Cost& cost) {
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, cost.reasons.size()); ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", cost.reasons[i].first, report::count_text(cost.reasons[i].second));
  if (cost.reasons.size() > kShown) text += ", ...";
  return text;
}

// The first ones by name.
std::string gone_text(const Cost& cost) {
  constexpr std::size_t kShown = 3;
  if (cost.gone.empty()) return cost.divided ? "divides hosts" : "none";
  const auto end = cost.gone.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, cost.gone.size()));
  return fmt::format("{}: {}{}", cost.gone.size(), fmt::join(cost.gone.begin(), end, ", "),
                     cost.gone.size() > kShown ? ", ..." : "");
}

template <class F>
std::vector<double> all(const std::vector<Cost>& costs, F figure) {
  std::vector<double> out;
  for (const Cost& c : costs)
    if (const auto value = figure(c); value && c.failure.empty()) out.push_back(static_cast<double>(*value));
  std::ranges::sort(out);
  return out;
}
std::optional<double> median(const std::vector<double>& sorted) {
  return sorted.empty() ? std::nullopt : std::optional(sorted[(sorted.size() - 1) / 2]);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::size_t Result::single_points() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(costs, &Cost::single_point));
}
std::size_t Result::failed_runs() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(costs, [](const Cost& c) { return !c.failure.empty(); }));
}
std::optional<double> Result::worst_stretch() const {
  const std::vector<double> sorted = all(costs, [](const Cost& c) { return c.stretch; });
  return sorted.empty() ? std::nullopt : std::optional(sorted.back());
}
std::optional<double> Result::median_stretch() const {
  return median(all(costs, [](const Cost& c) { return c.stretch; }));
}
std::optional<double> Result::median_repair_ns() const {
  return median(all(costs, [](const Cost& c) { return c.repaired_ns; }));
}

std::string heading(const Result& result) {
  const std::string job =
      result.job_ns ? fmt::format("Without a failure the job takes {}. ",
                                  report::nanoseconds_text(static_cast<std::uint64_t>(*result.job_ns)))
                    : "The traffic has no end: stretch compares what was delivered. ";
  return fmt::format("{}: {} failures, one per run; routing: {}. {}Each starts at {} and lasts {}.", result.name,
                     result.costs.size(), result.routing, job, report::time_text(result.at),
                     result.lasts.ps > 0 ? report::time_text(result.lasts) : "to the end");
}

// Text on the left, figures behind it.
std::vector<std::vector<std::string>> rows(const Result& result, std::size_t most) {
  std::vector<std::vector<std::string>> out{{"failed", "kind", "never came back", "drops", "lost", "stretch",
                                             "first table", "repaired", "restored", "flows hit"}};
  for (const Cost& c : result.costs) {
    if (out.size() > most) break;
    if (!c.failure.empty()) {
      out.push_back({c.element.name, name(c.element.kind), "-", "run failed: " + c.failure});
      continue;
    }
    out.push_back({c.element.name, name(c.element.kind), gone_text(c), reasons_text(c), report::count_text(c.lost),
                   stretch_text(c.stretch), ns_text(c.first_change_ns), ns_text(c.repaired_ns), ns_text(c.restored_ns),
                   report::count_text(c.hit)});
  }
  return out;
}

std::string text(const Result& result, std::size_t most) {
  std::string out = heading(result) + "\n\n" + text_table(rows(result, most), kTextColumns, "  ");
  if (result.costs.size() > most) out += fmt::format("  and {} more, which cost less\n", result.costs.size() - most);
  const std::size_t points = result.single_points();
  out += points == 0 ? "\nNo single point of failure: hosts reach each other, and all flows and collectives come back.\n"
                     : fmt::format("\n{} single {} of failure: hosts are divided, or work never comes back.\n", points,
                                   points == 1 ? "point" : "points");
  return out;
}

std::vector<std::vector<std::string>> comparison_rows(const std::vector<Result>& results) {
  std::vector<std::vector<std::string>> out{
      {"lab", "failures", "single points", "worst stretch", "median stretch", "most lost", "median repaired"}};
  for (const Result& r : results) {
    std::uint64_t lost = 0;
    for (const Cost& c : r.costs) lost = std::max(lost, c.lost);
    const auto repair = r.median_repair_ns();
    out.push_back({r.name, report::count_text(r.costs.size()), report::count_text(r.single_points()),
                   stretch_text(r.worst_stretch()), stretch_text(r.median_stretch()), report::count_text(lost),
                   ns_text(repair ? std::optional(static_cast<std::int64_t>(*repair)) : std::nullopt)});
  }
  return out;
}

std::string comparison_text(const std::vector<Result>& results) { return text_table(comparison_rows(results), 1, "  "); }

nlohmann::ordered_json json(const std::vector<Result>& results) {
  const auto number = [](const auto& value) -> nlohmann::ordered_json { return value ? nlohmann::ordered_json(*value) : nullptr; };
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Result& r : results) {
    nlohmann::ordered_json costs = nlohmann::ordered_json::array();
    for (const Cost& c : r.costs) {
      nlohmann::ordered_json reasons = nlohmann::ordered_json::object();
      for (const auto& [reason, n] : c.reasons) reasons[reason] = n;
      costs.push_back({{"failed", c.element.name},
                       {"kind", name(c.element.kind)},
                       {"failure_of_the_run", c.failure},
                       {"lost", c.lost},
                       {"drops", reasons},
                       {"stretch", number(c.stretch)},
                       {"first_change_ns", number(c.first_change_ns)},
                       {"repaired_ns", number(c.repaired_ns)},
                       {"restored_ns", number(c.restored_ns)},
                       {"flows_hit", c.hit},
                       {"never_came_back", c.gone},
                       {"divides_hosts", c.divided},
                       {"single_point", c.single_point()}});
    }
    out.push_back({{"spec", r.file},
                   {"name", r.name},
                   {"routing", r.routing},
                   {"at_ns", r.at.ps / 1000},
                   {"for_ns", r.lasts.ps > 0 ? nlohmann::ordered_json(r.lasts.ps / 1000) : nullptr},
                   {"job_ns", number(r.job_ns)},
                   {"failures", costs},
                   {"single_points", r.single_points()},
                   {"worst_stretch", number(r.worst_stretch())},
                   {"median_stretch", number(r.median_stretch())},
                   {"median_repaired_ns", number(r.median_repair_ns())}});
  }
  return out;
}

std::string csv(const std::vector<Result>& results) {
  std::string out =
      "spec,failed,kind,lost,stretch,first_change_ns,repaired_ns,restored_ns,flows_hit,never_came_back,single_point\n";
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(); };
  for (const Result& r : results)
    for (const Cost& c : r.costs)
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", quoted(r.file), quoted(c.element.name),
                         name(c.element.kind), c.failure.empty() ? fmt::format("{}", c.lost) : "", number(c.stretch),
                         number(c.first_change_ns), number(c.repaired_ns), number(c.restored_ns), c.hit,
                         c.gone.size(), c.single_point() ? 1 : 0);
  return out;
}

}  // namespace railyard::blast
