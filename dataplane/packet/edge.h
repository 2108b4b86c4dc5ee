// The edge of the fabric: what is learnt about a frame once, when it comes in, and kept in its metadata from then on.
#pragma once

#include "dataplane/packet/fec_table.h"
#include "dataplane/packet/packet.h"
#include "dataplane/wire/parse.h"

namespace railyard {

// Fills everything that follows from the headers: kind, offsets, code points, flow key, destination class. The other
// fields (payload, frame_octets, identity, home) are the caller's.
void describe(Packet& packet, const wire::FrameView& view, const FecTable& fecs) noexcept;

// What describe() found out about a packet's addresses. Constructed: about none.
struct AddressMemo {
  wire::IpAddress source;
  wire::IpAddress destination;
  Fec fec = kNoFec;
  std::uint32_t address_hash = 0;
  std::uint8_t protocol = 0;
  bool valid = false;
};

// The same, quicker for packets that follow one of the same addresses and protocol, as hosts send them. `memo` is
// about the last IP packet; it belongs to one `fecs`.
void describe(Packet& packet, const wire::FrameView& view, const FecTable& fecs, AddressMemo& memo) noexcept;

}  // namespace railyard
