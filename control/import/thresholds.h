// Two thresholds of a queue with their units, as EOS and NX-OS write them in one line.
#pragma once

#include <cstdint>
#include <optional>

#include "control/import/running_config.h"

namespace railyard::importing {

struct QueueThresholds {
  std::int64_t min = 0;  // octets
  std::int64_t max = 0;
};

// "minimum-threshold 150 kbytes maximum-threshold 3 mbytes" of `line`. `segment`: octets of a segment, 0 if the system
// has none. Nothing, and the line is left with a reason, if they are times or packets. Throws SpecError for a missing
// threshold or unit, an unknown unit, and a minimum above the maximum.
std::optional<QueueThresholds> read_thresholds(const RunningConfig& config, const ConfigLine& line, std::int64_t segment);

}  // namespace railyard::importing
