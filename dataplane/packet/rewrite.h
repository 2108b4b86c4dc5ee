// Changes to a packet's headers by the device that owns it; the metadata follows.
#pragma once

#include <cstdint>

#include "dataplane/packet/packet.h"

namespace railyard {

// DSCP and ECN of an IP packet, with the IPv4 header checksum.
void set_traffic_class(Packet& packet, std::uint8_t traffic_class_octet) noexcept;

// The PCP of a tagged packet.
void set_pcp(Packet& packet, std::uint8_t pcp) noexcept;

// Inserts an 802.1Q tag (PCP 0), or gives the one that is there another VID. There is room in front of every packet.
void push_vlan_tag(Packet& packet, std::uint16_t vid) noexcept;

// Takes the 802.1Q tag out, if there is one. The frame is not padded again: its MAC does that.
void pop_vlan_tag(Packet& packet) noexcept;

}  // namespace railyard
