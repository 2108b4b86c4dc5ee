#include "tools/railyard/eta.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace railyard::tools {

std::string time_left_text(double seconds) {
  constexpr double kMost = 3600.0 * 24 * 365;
  if (!(seconds >= 0) || seconds > kMost) return {};
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 120) return fmt::format(", {} s left", whole);
  const std::int64_t minutes = (whole + 59) / 60;
  if (minutes < 120) return fmt::format(", {} min left", minutes);
  return fmt::format(", {} h {} min left", minutes / 60, minutes % 60);
}

}  // namespace railyard::tools
