// A packet cut to its headers: what packet trimming does to a frame (SAI's
// SAI_BUFFER_PROFILE_PACKET_ADMISSION_FAIL_ACTION _DROP_AND_TRIM, SONiC's packet trimming; the idea is that of NDP,
// Handley et al., SIGCOMM 2017).
#pragma once

#include <cstdint>

#include "dataplane/packet/packet.h"

namespace railyard {

// Keeps the first `keep` octets of an IP packet's frame, counted from the Ethernet header, without FCS; a frame that is
// no longer keeps all its octets. Either way it has DSCP `dscp` (< 64) from now on; the ECN field stays. The IP length
// and the IPv4 header checksum follow the cut. The UDP length and checksum stay as they were, which is how a receiver
// tells a trimmed packet; an ICRC is gone, all of it even if the cut falls into it. `keep` >= kLeastTrimmedOctets.
//
// Returns whether something was cut. A packet that was cut before is never cut again.
bool trim(Packet& packet, std::uint32_t keep, std::uint8_t dscp) noexcept;

// Not padded by any MAC, and with room for Ethernet, 802.1Q tag, IPv6, UDP and BTH.
inline constexpr std::uint32_t kLeastTrimmedOctets = 96;

}  // namespace railyard
