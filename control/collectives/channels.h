// How many channels a collective has if nobody says.
#pragma once

#include "control/collectives/algorithm.h"

namespace railyard::collectives {

// Where each channel leaves a host by another NIC, as many as there are ranks in a host with a scale-up network, at most;
// but no more than make a program of moderate size (`octets`: as CollectiveShape::size; in so many `buckets`). Else 1.
int usual_channels(const Algorithm& algorithm, Operation operation, const Layout& layout, std::uint64_t octets, int buckets = 1);

}  // namespace railyard::collectives
