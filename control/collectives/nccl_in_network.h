// What NCCL's model says of reduction in the network: NVLS, where the switches of a scale-up network reduce, and
// CollNet (SHARP), where those between hosts do. Both are the algorithm in-network here.
//
// Source: NCCL 2.30, src/graph/tuning.cc (hwLatencies, nvlsEfficiency, ncclTopoTuneModel()), figures of Hopper.
#pragma once

#include <cstdint>

#include "control/collectives/protocol.h"

namespace railyard::collectives {

// Where the switches that join a collective's ranks reduce.
struct NcclReduction {
  bool scale_up = false;  // in a scale-up network
  bool network = false;   // between hosts, so that all of these reach a reducer

  bool operator==(const NcclReduction&) const = default;
};

// us, before the first octets are there: NVLS 25; between hosts CollNetDirect's 31 (14 with one rank in each) and what
// it takes within them.
double nccl_in_network_latency(const NcclSystem& system) noexcept;

// The time in us of the operation of `octets`; below 0: NCCL does not do it so. It does all-reduces, and within one
// scale-up network reduce-scatter and all-gather. Each GPU has a NIC of its own in the model, and 16 channels.
double nccl_in_network_time(Operation operation, std::uint64_t octets, const NcclSystem& system,
                            NcclReduction reduction) noexcept;

// nccl_choice(), or reduction in the network if the model says that it is quicker. That is Simple.
ProtocolChoice nccl_choice(Operation operation, const Algorithm* algorithm, std::uint64_t octets,
                           const NcclSystem& system, NcclReduction reduction);

}  // namespace railyard::collectives
