#include "control/report/convergence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace railyard::report {

std::optional<Duration> convergence(const Sharing& s) {
  if (s.arrived.empty() || s.fair_bps <= 0 || s.packet_octets <= 0 || s.every <= Duration{}) return std::nullopt;
  const double step = seconds(s.every);
  const auto window =
      static_cast<std::size_t>(std::max(1.0, std::ceil(kWindowPackets * s.packet_octets * 8 / s.fair_bps / step)));
  const double fair = s.fair_bps / 8 * step * static_cast<double>(window);  // octets
  const auto first = static_cast<std::size_t>((s.onset.ps + s.every.ps - 1) / s.every.ps);
  const auto last = static_cast<std::size_t>(s.until.ps / s.every.ps);
  const auto at = [](const std::vector<std::uint64_t>& series, std::size_t i) {
    return static_cast<double>(series[std::min(i, series.size() - 1)]);
  };
  const auto is_even = [&](std::size_t from) {
    return std::ranges::all_of(s.arrived, [&](const std::vector<std::uint64_t>& series) {
      return std::abs(at(series, from + window) - at(series, from) - fair) <= kWithin * fair;
    });
  };
  for (std::size_t from = first; from + window * kHold <= last; ++from) {
    int held = 0;
    while (held < kHold && is_even(from + static_cast<std::size_t>(held) * window)) ++held;
    if (held == kHold) return s.every * static_cast<std::int64_t>(from) - s.onset;
  }
  return std::nullopt;
}

}  // namespace railyard::report
