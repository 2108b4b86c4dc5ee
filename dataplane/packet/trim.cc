#include "dataplane/packet/trim.h"

#include <algorithm>

#include "dataplane/base/assert.h"
#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/field.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"

namespace railyard {
namespace {

std::uint32_t ip_octets(const Packet& packet) noexcept {
  return packet.kind == FrameKind::kIpv4
             ? std::uint32_t{wire::read<wire::Ipv4::TotalLength>(packet.l3())}
             : wire::read<wire::Ipv6::PayloadLength>(packet.l3()) + std::uint32_t{wire::Ipv6::kOctets};
}

void set_ip_octets(Packet& packet, std::uint32_t octets) noexcept {
  std::byte* const ip = packet.l3();
  if (packet.kind == FrameKind::kIpv4) {
    const std::uint16_t before = wire::read<wire::Ipv4::TotalLength>(ip);
    const auto after = static_cast<std::uint16_t>(octets);
    wire::write<wire::Ipv4::TotalLength>(ip, after);
    wire::write<wire::Ipv4::HeaderChecksum>(
        ip, wire::updated_checksum(wire::read<wire::Ipv4::HeaderChecksum>(ip), before, after));
  } else {
    wire::write<wire::Ipv6::PayloadLength>(ip, static_cast<std::uint16_t>(octets - wire::Ipv6::kOctets));
  }
}

}  // namespace

bool trim(Packet& packet, std::uint32_t keep, std::uint8_t dscp) noexcept {
  RAILYARD_EXPENSIVE_ASSERT(packet.kind == FrameKind::kIpv4 || packet.kind == FrameKind::kIpv6, "IP packets only");
  set_traffic_class(packet, static_cast<std::uint8_t>(dscp << 2 | (packet.traffic_class_octet & 3)));
  // Octets behind the IP packet, if there are any, are not worth a cut.
  if (packet.trimmed != 0 || packet.l3_offset + ip_octets(packet) <= keep) return false;
  if (packet.telemetry != 0) [[unlikely]]
    drop_telemetry(packet);  // it is at the frame's end
  // An ICRC that the cut falls into goes as a whole: it has not been computed yet.
  if (packet.has(Packet::kIcrcPending)) keep = std::min(keep, packet.header_octets + packet.payload_octets);
  set_ip_octets(packet, keep - packet.l3_offset);
  // The cut may fall into what is not header any more, or, with long extension headers, before their end.
  packet.header_octets = static_cast<std::uint16_t>(std::min<std::uint32_t>(packet.header_octets, keep));
  packet.payload_octets = keep - packet.header_octets;
  packet.frame_octets = keep + std::uint32_t{wire::kFcsOctets};
  packet.trimmed = 1;
  packet.flags = static_cast<std::uint8_t>(packet.flags & ~unsigned{Packet::kIcrcPending});
  return true;
}

}  // namespace railyard
