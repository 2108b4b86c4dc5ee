#include "dataplane/packet/edge.h"

#include "dataplane/base/hash.h"

namespace railyard {

void describe(Packet& packet, const wire::FrameView& view, const FecTable& fecs) noexcept {
  packet.kind = view.kind;
  packet.l3_offset = static_cast<std::uint8_t>(view.l3_offset);
  packet.header_octets = view.header_octets;
  packet.flags = static_cast<std::uint8_t>(view.tagged ? packet.flags | Packet::kTagged
                                                       : packet.flags & ~unsigned{Packet::kTagged});
  packet.pcp = view.pcp;
  packet.vid = view.vid;
  packet.traffic_class_octet = view.traffic_class_octet;
  packet.destination_qp = view.destination_qp;
  const bool ip = view.kind == FrameKind::kIpv4 || view.kind == FrameKind::kIpv6;
  packet.fec = ip ? fecs.lookup(view.destination) : kNoFec;
  const std::uint64_t source = mix64(mix64(view.source.high() + 1) ^ view.source.low());
  const std::uint64_t both = mix64(mix64(source ^ view.destination.high()) ^ view.destination.low()) + view.protocol;
  packet.address_hash = static_cast<std::uint32_t>(mix64(both) >> 32);
  packet.transport_hash = std::uint32_t{view.source_port} << 16 | view.destination_port;
}

}  // namespace railyard
