// What each figure of a summary is: its unit, which end of it is better, what it says.
#include <algorithm>

#include "control/report/metrics/field_path.h"
#include "control/report/summary.h"

namespace railyard::report {

FigureKind kind_of(std::string_view name) {
  using enum Unit;
  using enum Better;
  if (const Metric* m = find_metric(name)) return {m->unit, m->better, m->of_completed, m->help};
  if (name.contains('.') && !name.starts_with('/'))
    if (const auto field = find_field(name))
      return {field->unit, kNeither, name.contains(".fct_ns") || name.contains(".slowdown") || name.contains(".message_ns")};
  // By their path in the report: of a spread, what it is of says the unit.
  const bool is_path = name.starts_with('/');
  const bool of_completed = is_path && (name.find("/fct_ns") != name.npos || name.find("/slowdown") != name.npos ||
                                        name.find("/message_ns") != name.npos);
  if (is_path && (name.ends_with("/samples") || name.ends_with("/count"))) return {kCount, kNeither, of_completed};
  if (is_path)
    if (const std::size_t last = name.rfind('/'); !name.substr(last).contains('_')) name = name.substr(0, last);
  if (name.starts_with("fct_") || name.starts_with("latency_")) return {kNanoseconds, kLower};
  if (name.ends_with("_ns")) return {kNanoseconds, kNeither, of_completed};
  if (name.ends_with("_bps")) return {kBitsPerSecond, kNeither};
  if (name.ends_with("_efficiency")) return {kShare, kHigher};
  if (name.ends_with("_bytes")) return {kBytes, kNeither};
  return {kCount, kNeither, of_completed};
}

std::vector<std::string> known_figures() {
  std::vector<std::string> names;
  for (const Metric& m : run_metrics()) names.emplace_back(m.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace railyard::report
