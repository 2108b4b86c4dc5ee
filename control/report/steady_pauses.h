// Pauses once the lab has settled.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/report/report.h"

namespace railyard::report {

// `warm`, `end`: counters of all devices, in the lab's order, at the end of the warm-up and of the load interval.
// `peer`: the name of the port at the other end of a device's port. Nothing: the warm-up did not end before the
// traffic.
std::optional<SteadyPauses> steady_pauses(const Snapshot& warm, const std::vector<DeviceCounters>& end,
                                          const std::function<std::string(std::size_t, std::size_t)>& peer);

}  // namespace railyard::report
