// The share of a scale-up network's rate that a collective's messages reach with a protocol of NCCL.
#pragma once

#include <cstdint>

#include "control/collectives/protocol.h"

namespace railyard::collectives {

// kScaleUpShare, and of that what tuning.cc says kernels reach besides sending more octets: rings with LL128 0.92 of
// 0.9375; trees 0.92, with LL 2/3.8, with LL128 in one host 7/9 of 0.9375; and trees by `octets` what its table says
// (treeCorrectionFactor). 1 without a protocol. `protocol` is not kAuto.
double scale_up_share(Protocol protocol, const Algorithm& algorithm, std::uint64_t octets, const NcclSystem& system);

}  // namespace railyard::collectives
