// Room in frames for in-band telemetry that congestion control reads.
#pragma once

#include <cstdint>

#include "control/spec/spec.h"

namespace railyard::spec {

// By how many octets frames of the lab may be longer than its MTUs say: what RoCEv2 packets carry if the congestion
// control of a host profile reads in-band telemetry; else 0. `lab` is expanded.
std::uint32_t telemetry_octets(const Lab& lab);

}  // namespace railyard::spec
