// Scheduling and marking of the queues of a SONiC switch: QUEUE, SCHEDULER, WRED_PROFILE.
#pragma once

#include <array>
#include <vector>

#include "control/import/sonic_maps.h"

namespace railyard::importing {

// By class, as at most linked ports; other ports are left out with a reason. Throws SpecError for names that are none,
// for min above max, and for a weight or a type of scheduler that does not exist.
std::array<QueueSettings, kClasses> read_queues(const ConfigDb& db, const std::vector<PortConfig>& ports);

}  // namespace railyard::importing
