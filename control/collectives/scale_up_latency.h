// What a scale-up network's own latency is of a protocol's costs.
#pragma once

#include "control/collectives/protocol.h"
#include "dataplane/base/time.h"

namespace railyard::collectives {

// NCCL's steps within a host have the latency of the scale-up network in them (protocol.h), and messages take it
// anyway: so it is taken off. Of a ring that goes around, whose steps are all in `launch`, once for each link within
// hosts that a block of the data passes. Costs never fall below 0. `costs`: protocol_costs() of the same algorithm,
// operation and system.
ProtocolCosts without_scale_up_latency(ProtocolCosts costs, const Algorithm& algorithm, Operation operation,
                                       const NcclSystem& system, Duration latency);

}  // namespace railyard::collectives
