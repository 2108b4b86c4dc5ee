// The edge of the fabric: what is learnt about a frame once, when it comes in, and kept in its metadata from then on.
#pragma once

#include "dataplane/packet/fec_table.h"
#include "dataplane/packet/packet.h"
#include "dataplane/wire/parse.h"

namespace railyard {

// Fills everything that follows from the headers: kind, offsets, code points, flow key, destination class. The other
// fields (payload, frame_octets, identity, home) are the caller's.
void describe(Packet& packet, const wire::FrameView& view, const FecTable& fecs) noexcept;

}  // namespace railyard
