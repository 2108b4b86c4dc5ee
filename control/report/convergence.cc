#include "control/report/convergence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace railyard::report {
namespace {

// Tells `see` of each stretch of kHold windows, in order: from which look on, and how far a flow was off the fair share
// at most, as a part of it. Until it returns false.
template <class See>
void for_each_stretch(const Sharing& s, See&& see) {
  if (s.arrived.empty() || s.fair_bps <= 0 || s.packet_octets <= 0 || s.every <= Duration{}) return;
  const double step = seconds(s.every);
  const auto window =
      static_cast<std::size_t>(std::max(1.0, std::ceil(kWindowPackets * s.packet_octets * 8 / s.fair_bps / step)));
  const double fair = s.fair_bps / 8 * step * static_cast<double>(window);  // octets
  const auto first = static_cast<std::size_t>((s.onset.ps + s.every.ps - 1) / s.every.ps);
  const auto last = static_cast<std::size_t>(s.until.ps / s.every.ps);
  const auto at = [](const std::vector<std::uint64_t>& series, std::size_t i) {
    return static_cast<double>(series[std::min(i, series.size() - 1)]);
  };
  if (last < first + window * kHold) return;
  std::vector<double> off(last - window + 1 - first);  // of the window from each look on
  for (std::size_t i = 0; i < off.size(); ++i)
    for (const std::vector<std::uint64_t>& series : s.arrived)
      off[i] = std::max(off[i], std::abs(at(series, first + i + window) - at(series, first + i) - fair) / fair);
  for (std::size_t i = 0; i + window * (kHold - 1) < off.size(); ++i) {
    double most = 0;
    for (std::size_t k = 0; k < kHold; ++k) most = std::max(most, off[i + k * window]);
    if (!see(first + i, most)) return;
  }
}

}  // namespace

std::optional<Duration> convergence(const Sharing& s) {
  std::optional<Duration> after;
  for_each_stretch(s, [&](std::size_t from, double off) {
    if (off <= kWithin) after = s.every * static_cast<std::int64_t>(from) - s.onset;
    return !after;
  });
  return after;
}

std::optional<double> nearest_share(const Sharing& s) {
  std::optional<double> least;
  for_each_stretch(s, [&](std::size_t, double off) {
    least = std::min(least.value_or(off), off);
    return true;
  });
  return least;
}

}  // namespace railyard::report
