// Which worker has which device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/device/fabric.h"

namespace railyard {

// Fewer devices with something to do than this per worker, and meeting at the end of the window costs more than it brings.
inline constexpr std::size_t kThinWindow = 8;

// By device: its worker, 0..`workers`-1. Each worker gets about as many ports as the others, and as few links as can be
// lie between two workers: a packet that changes workers has to pass from one processor's cache to another's. The same
// fabric always gives the same answer; results of a run do not depend on it. Many workers with fewer than kThinWindow devices
// each have them in turn: they would never run beside each other.
//
// METIS does it (Karypis and Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs", SIAM
// Journal on Scientific Computing 20, 1998).
std::vector<std::uint8_t> place_devices(const Fabric& fabric, std::size_t workers);

}  // namespace railyard
