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
  return fmt::format("{:.3f}", value);
}

}  // namespace railyard::report
