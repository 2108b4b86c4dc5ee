// TCP segments that leave for a kernel one after another, joined into one super-frame: what receivers call GRO.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dataplane/packet/packet.h"
#include "dataplane/port/offload_header.h"
#include "dataplane/port/super_frame.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ipv6.h"

namespace railyard {

// What goes to the kernel in one piece: one frame, or a super-frame that it takes as the segments it was made of. In
// the latter case the segments' own headers stay behind: `front` stands for them.
struct JoinedSegments {
  static constexpr std::size_t kMostTcpHeader = 60;
  static constexpr std::size_t kMostHeaders = wire::Ethernet::kOctets + wire::Ipv6::kOctets + kMostTcpHeader;
  static constexpr std::size_t kMostFrames = 64;

  std::array<std::byte, sizeof(OffloadHeader) + kMostHeaders> front;  // offload header, headers of a super-frame
  std::size_t front_octets = 0;
  std::size_t left_out = 0;  // first octets of each frame that are not sent
  std::size_t frames = 0;    // that go in this piece
};

// The first of `packets`, with as many of the next as continue it: segments of one connection, in order, with equal
// headers and right checksums, of equal length up to the last. A receiver sees no difference, but for fewer, longer
// frames. Packets stay as they are; all their octets are real.
void join_segments(std::span<Packet* const> packets, JoinedSegments& out) noexcept;

}  // namespace railyard
