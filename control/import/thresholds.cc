#include "control/import/thresholds.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "control/import/setting_values.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kMostThreshold = 256'000'000;  // of EOS, in any unit
constexpr std::array<std::string_view, 4> kOtherUnits{"milliseconds", "microseconds", "packets", "percent"};

// Nothing for a unit of kOtherUnits.
std::optional<std::int64_t> read_one(const RunningConfig& config, const ConfigLine& line, std::string_view key,
                                     std::int64_t segment) {
  const auto value = config.number_after(line, key, 0, kMostThreshold);
  if (!value) config.fail(line, fmt::format("no {}", key), "minimum-threshold and maximum-threshold with their units");
  const std::string* const unit = line.after(*line.after(key));
  const std::string units = fmt::format("bytes, kbytes{} or mbytes", segment > 0 ? ", segments" : "");
  if (unit == nullptr) config.fail(line, fmt::format("{} {} without a unit", key, *value), units);
  if (std::ranges::find(kOtherUnits, *unit) != kOtherUnits.end()) return std::nullopt;
  if (segment > 0 && *unit == "segments") return *value * segment;
  const auto octets = octets_per_unit(*unit);
  if (!octets) config.fail(line, fmt::format("{} {} {}", key, *value, *unit), units);
  return *value * *octets;
}

}  // namespace

std::optional<QueueThresholds> read_thresholds(const RunningConfig& config, const ConfigLine& line,
                                               std::int64_t segment) {
  const auto min = read_one(config, line, "minimum-threshold", segment);
  const auto max = read_one(config, line, "maximum-threshold", segment);
  if (!min || !max) {
    leave(line, "thresholds of a fabric file are octets");
    return std::nullopt;
  }
  if (*min > *max)
    config.fail(line, fmt::format("minimum-threshold {} bytes, above maximum-threshold", *min),
                fmt::format("at most {} bytes", *max));
  return QueueThresholds{*min, *max};
}

}  // namespace railyard::importing
