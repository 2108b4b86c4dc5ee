// Pauses once the lab has settled.
#pragma once

#include <optional>

#include "control/build/built_lab.h"
#include "control/report/report.h"

namespace railyard::report {

// `warm`, `end`: counters of all devices, in the lab's order, at the end of the warm-up and of traffic. Nothing: the
// warm-up did not end before the traffic did.
std::optional<SteadyPauses> steady_pauses(const Snapshot& warm, const std::vector<DeviceCounters>& end);

}  // namespace railyard::report
