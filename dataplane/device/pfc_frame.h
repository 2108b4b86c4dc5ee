// PFC frames as packets: the same on every link and in every capture.
#pragma once

#include <array>
#include <cstdint>
#include <expected>

#include "dataplane/base/ids.h"
#include "dataplane/packet/pool.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/pfc.h"

namespace railyard {

// A frame that sets the priorities in `enable` to `quanta`; nullptr if the pool is empty. IEEE 802.1Q clause 36,
// IEEE 802.3 annex 31D.
Packet* make_pfc_frame(PacketPool& pool, wire::MacAddress source, PriorityMask enable,
                       const std::array<std::uint16_t, kPriorities>& quanta);

// What a MAC control packet says, or why nothing is done about it.
std::expected<wire::PfcFrame, DropReason> read_pfc_frame(const Packet& packet) noexcept;

}  // namespace railyard
