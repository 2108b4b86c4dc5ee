#include "control/sweep/search_plan.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/compare.h"
#include "control/spec/suggest.h"
#include "dataplane/base/time.h"

namespace railyard::sweep {
namespace {

std::int64_t value_of(const SearchPlan& plan, std::uint64_t step) {
  const Int128 ahead = (Int128{plan.search.to} - plan.search.from) * static_cast<Int128>(step) / Int128{plan.last};
  return plan.search.from + static_cast<std::int64_t>(ahead);
}

}  // namespace

std::string SearchPlan::set(std::uint64_t step) const {
  return fmt::format("{}={}", search.path, search.text(value_of(*this, step)));
}

double SearchPlan::figure(std::uint64_t step) const {
  const auto value = static_cast<double>(value_of(*this, step));
  switch (search.kind) {
    case spec::Search::Kind::kPercent:
      return value / 1e6;
    case spec::Search::Kind::kDuration:
      return value / 1000;
    default:
      return value;
  }
}

report::FigureKind SearchPlan::kind() const {
  report::FigureKind kind;
  kind.better = search.to > search.from ? report::Better::kHigher : report::Better::kLower;
  switch (search.kind) {
    case spec::Search::Kind::kInteger:
      kind.unit = report::Unit::kCount;
      break;
    case spec::Search::Kind::kPercent:
      kind.unit = report::Unit::kRatio;
      break;
    case spec::Search::Kind::kDuration:
      kind.unit = report::Unit::kNanoseconds;
      break;
    case spec::Search::Kind::kSize:
      kind.unit = report::Unit::kBytes;
      break;
    case spec::Search::Kind::kRate:
      kind.unit = report::Unit::kBitsPerSecond;
      break;
  }
  return kind;
}

bool SearchPlan::holds(const nlohmann::ordered_json& report) const {
  return std::ranges::all_of(condition.terms, [&](const spec::Condition::Term& term) {
    if (const auto figure = report::figure_of(report, term.what.figure)) return term.holds(*figure);
    std::vector<std::string> known;
    for (const auto& [name, value] : report["summary"].items()) known.push_back(name);
    throw std::invalid_argument(fmt::format(
        "--until: no run has '{}'{}; there are {}{}", term.what.figure, spec::did_you_mean(term.what.figure, known),
        fmt::join(known, ", "), term.what.figure == "accepted" ? "; accepted needs traffic with a rate" : ""));
  });
}

nlohmann::ordered_json SearchPlan::json() const {
  return {{"path", search.path},
          {"from", search.text(search.from)},
          {"to", search.text(search.to)},
          {"steps", last},
          {"until", until}};
}

std::string SearchPlan::text() const {
  return fmt::format("{}: the {} of {}..{} with {}; all other figures are from the run with this value", search.path,
                     search.to > search.from ? "highest" : "lowest", search.text(search.from), search.text(search.to),
                     until);
}

SearchPlan plan_search(const std::string& search, const std::string& until, spec::Ratio resolution) {
  constexpr std::int64_t kMostSteps = 1 << 20;
  SearchPlan plan;
  const auto parsed = spec::parse_search(search);
  if (!parsed) throw std::invalid_argument("--search: " + parsed.error());
  plan.search = *parsed;
  plan.until = until.empty() ? SearchPlan::kUsualCondition : until;
  const auto condition = spec::parse_condition(plan.until);
  if (!condition) throw std::invalid_argument("--until: " + condition.error());
  plan.condition = *condition;
  for (const spec::Condition::Term& term : plan.condition.terms)
    if (!term.what.of_whole_run() || term.other)
      throw std::invalid_argument(
          fmt::format("--until: '{}': expected figures of the whole run compared with values, such as drops=0",
                      spec::format(term.what)));
  if (resolution.numerator <= 0 || resolution.numerator >= resolution.denominator)
    throw std::invalid_argument("--resolution: expected a fraction of the range above 0, such as 1%");
  const auto [less, more] = std::minmax(plan.search.from, plan.search.to);
  const Int128 apart = Int128{more} * resolution.numerator / resolution.denominator;
  const std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(apart));
  plan.last = static_cast<std::uint64_t>(std::min(kMostSteps, (more - less + step - 1) / step));
  return plan;
}

}  // namespace railyard::sweep
