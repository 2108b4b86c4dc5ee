// Frames that a port's MAC sends and takes itself, as packets: they have a FIFO of their own in each channel, pass the
// queues by and go first.
#pragma once

#include <span>

#include "dataplane/packet/pool.h"
#include "dataplane/wire/ethernet.h"

namespace railyard {

// A frame of least length whose octets, without FCS, are the caller's to write: header(). nullptr if the pool is empty.
Packet* make_control_frame(PacketPool& pool);
inline std::span<std::byte, wire::kMinFrameOctets> control_octets(Packet& frame) noexcept {
  return std::span<std::byte, wire::kMinFrameOctets>(frame.header(), wire::kMinFrameOctets);
}

}  // namespace railyard
