#include "control/report/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "control/base/count_text.h"

namespace railyard::report {
namespace {

// `value` with the largest of the units (each 1000 times the one before) that leaves at least 1.
template <std::size_t n>
std::string scaled(double value, const std::array<std::string_view, n>& units) {
  std::size_t i = 0;
  while (i + 1 < n && std::abs(value) >= 999.5) {
    value /= 1000;
    ++i;
  }
  const int digits = std::abs(value) >= 100 || value == std::floor(value) ? 0 : std::abs(value) >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, units[i]);
}

}  // namespace

std::string rate_text(double bps) {
  return scaled(bps, std::array<std::string_view, 5>{"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"});
}
std::string size_text(std::uint64_t octets) {
  return scaled(static_cast<double>(octets), std::array<std::string_view, 5>{"B", "KB", "MB", "GB", "TB"});
}
std::string time_text(Duration d) {
  return scaled(static_cast<double>(d.ps), std::array<std::string_view, 5>{"ps", "ns", "us", "ms", "s"});
}
std::string nanoseconds_text(std::uint64_t ns) {
  return scaled(static_cast<double>(ns), std::array<std::string_view, 4>{"ns", "us", "ms", "s"});
}
std::string count_text(std::uint64_t n) { return railyard::count_text(n); }
std::string percent_text(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }
std::string rate_text(const std::optional<double>& bps) { return bps ? rate_text(*bps) : "-"; }
std::string percent_text(const std::optional<double>& fraction) { return fraction ? percent_text(*fraction) : "-"; }
std::string time_text(const Percentiles& p, std::uint64_t Percentiles::*which) {
  return p.known() ? nanoseconds_text(p.*which) : "-";
}
std::string time_text(const Percentiles& p) {
  if (!p.known()) return "-";
  return fmt::format("{} / {} / {}", nanoseconds_text(p.p50), nanoseconds_text(p.p99), nanoseconds_text(p.max));
}

}  // namespace railyard::report
