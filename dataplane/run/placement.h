// Which worker has which device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/device/fabric.h"

namespace railyard {

// Fewer devices with something to do than this per worker, and meeting at the end of the window costs more than it brings.
inline constexpr std::size_t kThinWindow = 8;

// What devices and links have had to do.
struct MeasuredLoads {
  std::vector<std::uint64_t> devices;  // by device: processor cycles
  std::vector<std::uint64_t> links;    // by link: frames, both directions together
};

// By device: its worker, 0..`workers`-1. Each worker gets about as many ports as the others, or as much load if that is
// known, and as few links or frames as can be lie between two workers: a packet that changes workers has to pass from one processor's cache to another's. The same
// fabric always gives the same answer; results of a run do not depend on it. Many workers with fewer than kThinWindow devices
// each have them in turn: they would never run beside each other.
//
// METIS does it (Karypis and Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs", SIAM
// Journal on Scientific Computing 20, 1998).
//
// `elsewhere`: by device, whether another process advances it, which then gets any worker; empty: none.
std::vector<std::uint8_t> place_devices(const Fabric& fabric, std::size_t workers,
                                        const std::vector<bool>& elsewhere = {}, const MeasuredLoads* loads = nullptr);

// By device: which of `parts` processes advances it (peers.h), in the same way. Devices that share more than links (side
// links, of a scale-up network) stay together. Throws std::invalid_argument: there are fewer such groups than parts.
std::vector<std::uint16_t> split_devices(const Fabric& fabric, std::size_t parts);

}  // namespace railyard
