// What every port sets in a packet that has come in from the outside.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/packet/packet.h"

namespace railyard {

// Octets that must be contiguous for every header that the fabric parses.
inline constexpr std::uint16_t kMostHeaderOctets = 256;

// Describes a frame of `octets` octets without FCS, the `number`th of the attachment `stream`. header_at, flags and
// home are set already and stay. Of a frame that is longer than its packet has room for (a giant, which the NIC drops
// by its length) only the first octets need be there.
inline void describe_received(Packet& p, std::uint32_t octets, std::uint64_t stream, std::uint64_t number) noexcept {
  const std::uint16_t header_at = p.header_at;
  const std::uint8_t flags = p.flags;
  const WorkerId home = p.home;
  p = Packet{};
  p.header_at = header_at;
  p.flags = flags;
  p.home = home;
  p.stream = stream;
  p.offset = number;
  p.header_octets = static_cast<std::uint16_t>(std::min<std::uint32_t>(octets, kMostHeaderOctets));
  p.payload_octets = octets - p.header_octets;
  p.frame_octets = std::max(octets + std::uint32_t{wire::kFcsOctets}, kLeastFrameOctets);
}

}  // namespace railyard
