#include "control/report/summary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {

std::vector<Figure> summary(const Report& r) {
  const RunTotals totals(r);
  std::vector<Figure> out;
  for (const Metric& m : run_metrics())
    if (const auto value = m.value(totals)) out.push_back({std::string(m.name), *value});
  return out;
}

std::string figure_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return nanoseconds_text(static_cast<std::uint64_t>(std::max(0.0, value)));
    case Unit::kBitsPerSecond:
      return rate_text(value);
    case Unit::kBytes:
      return size_text(static_cast<std::uint64_t>(std::max(0.0, value)));
    case Unit::kSeconds:
      return fmt::format("{:.2f} s", value);
    case Unit::kRatio:
    case Unit::kShare:
      return fmt::format("{:.3f}", value);
    case Unit::kCount:
      break;
  }
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return (value < 0 ? "-" : "") + count_text(static_cast<std::uint64_t>(std::abs(value)));
  // A median of two counts.
  if (value > 0 && value * 2 == std::floor(value * 2) && value < 1e15)
    return count_text(static_cast<std::uint64_t>(value)) + ".5";
  return fmt::format("{:.3f}", value);
}

std::string range_text(double median, double least, double most, Unit unit) {
  const std::string text = figure_text(median, unit);
  const std::string from = figure_text(least, unit);
  const std::string to = figure_text(most, unit);
  return from == to ? text : fmt::format("{} ({} .. {})", text, from, to);
}

std::string change_text(double change) {
  if (change >= 9.995) return fmt::format("x {:.3g}", change + 1);
  if (std::abs(change) < 0.0005) return "0.0 %";
  return fmt::format("{:+.1f} %", change * 100);
}

}  // namespace railyard::report
