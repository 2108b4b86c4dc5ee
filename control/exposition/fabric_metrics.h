// The counters of a fabric as metrics: of ports, queues, PFC, drops, buffers.
#pragma once

#include <functional>
#include <vector>

#include "control/build/built_lab.h"
#include "control/exposition/exposition.h"
#include "dataplane/device/counters.h"

namespace railyard::exposition {

// Each sample has the label `switch` or `host`, the name of the node, and `port`, from 1. Samples of classes have `class`.
// There are samples of those classes which are lossless anywhere in the lab, or in which anything has been counted
// anywhere; and of drops, where there were any: so their number does not grow with what the lab could do.
// `counters`: of all devices. `up`: whether the link at a port is up.
void add_fabric(Exposition& out, const build::BuiltLab& lab, const std::vector<DeviceCounters>& counters,
                const std::function<bool(PortRef)>& up);

}  // namespace railyard::exposition
