// How much memory a lab's packets can take.
#pragma once

#include <cstdint>

#include "control/build/built_lab.h"

namespace railyard::build {

struct PacketMemory {
  std::uint64_t packets = 0;        // at once
  std::uint64_t packet_octets = 0;  // of memory for one: its headers, or all of it where payload is real
  std::uint32_t frame_octets = 0;   // of the frames that fill the buffers

  std::uint64_t octets() const noexcept { return packets * packet_octets; }
};

// The upper bound: every buffer full of the smallest frames that carry data, and every wire and NIC. Acknowledgements are
// smaller, but no flow sends enough of them to fill buffers.
PacketMemory packet_memory(BuiltLab& lab);

}  // namespace railyard::build
