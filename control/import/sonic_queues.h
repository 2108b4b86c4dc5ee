// Scheduling and marking of the queues of a SONiC switch: QUEUE, SCHEDULER, WRED_PROFILE.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/import/sonic_maps.h"

namespace railyard::importing {

// The curve for green packets: SONiC colours no packet otherwise unless it meters.
struct WredCurve {
  std::int64_t min = 0;  // octets
  std::int64_t max = 0;
  std::int64_t percent = 0;  // at max
  bool marks = false;        // ECN-capable packets are marked; else dropped
};

struct QueueSettings {
  std::optional<WredCurve> wred;
  std::optional<std::int64_t> weight;
  bool strict = false;
  std::string names;  // of the profile and the scheduler, to show
};

// By class, as at most linked ports; other ports are left out with a reason. Throws SpecError for names that are none,
// for min above max, and for a weight or a type of scheduler that does not exist.
std::array<QueueSettings, kClasses> read_queues(const ConfigDb& db, const std::vector<SonicPort>& ports);

}  // namespace railyard::importing
