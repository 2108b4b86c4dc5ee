#include "dataplane/packet/rewrite.h"

#include <algorithm>
#include <cstring>

#include "dataplane/wire/rewrite.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

constexpr std::size_t kMacs = 12;  // both addresses; the tag stands behind them

// The tag control information follows the EtherType that announces it.
std::byte* tag_of(Packet& packet) noexcept { return packet.header() + wire::Ethernet::kOctets; }

}  // namespace

void set_traffic_class(Packet& packet, std::uint8_t traffic_class_octet) noexcept {
  packet.traffic_class_octet = traffic_class_octet;
  if (packet.kind == FrameKind::kIpv4)
    wire::set_traffic_class_v4(packet.l3(), traffic_class_octet);
  else
    wire::set_traffic_class_v6(packet.l3(), traffic_class_octet);
}

void set_pcp(Packet& packet, std::uint8_t pcp) noexcept {
  packet.pcp = pcp & 7;
  wire::write<wire::Vlan::PCP>(tag_of(packet), pcp);
}

void push_vlan_tag(Packet& packet, std::uint16_t vid) noexcept {
  if (!packet.has(Packet::kTagged)) {
    std::byte* const old = packet.header();
    packet.header_at = static_cast<std::uint16_t>(packet.header_at - wire::Vlan::kOctets);
    std::memmove(packet.header(), old, kMacs);
    wire::write<wire::Ethernet::EtherType>(packet.header(), wire::ether_type::kVlan);
    // What was the EtherType now ends the tag.
    wire::write<wire::Vlan::PCP>(tag_of(packet), 0);
    wire::write<wire::Vlan::DEI>(tag_of(packet), 0);
    packet.header_octets = static_cast<std::uint16_t>(packet.header_octets + wire::Vlan::kOctets);
    packet.l3_offset = static_cast<std::uint8_t>(packet.l3_offset + wire::Vlan::kOctets);
    packet.frame_octets += wire::Vlan::kOctets;
    packet.flags |= Packet::kTagged;
    packet.pcp = 0;
  }
  packet.vid = vid & 0xFFF;
  wire::write<wire::Vlan::VID>(tag_of(packet), vid);
}

void pop_vlan_tag(Packet& packet) noexcept {
  if (!packet.has(Packet::kTagged)) return;
  std::memmove(packet.header() + wire::Vlan::kOctets, packet.header(), kMacs);
  packet.header_at = static_cast<std::uint16_t>(packet.header_at + wire::Vlan::kOctets);
  packet.header_octets = static_cast<std::uint16_t>(packet.header_octets - wire::Vlan::kOctets);
  packet.l3_offset = static_cast<std::uint8_t>(packet.l3_offset - wire::Vlan::kOctets);
  packet.frame_octets = std::max(packet.frame_octets - std::uint32_t{wire::Vlan::kOctets}, kLeastFrameOctets);
  packet.flags = static_cast<std::uint8_t>(packet.flags & ~unsigned{Packet::kTagged});
  packet.pcp = 0;
  packet.vid = 0;
}

}  // namespace railyard
