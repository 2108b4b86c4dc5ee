#include "dataplane/device/pfc_frame.h"

#include <span>

namespace railyard {

Packet* make_pfc_frame(PacketPool& pool, wire::MacAddress source, PriorityMask enable,
                       const std::array<std::uint16_t, kPriorities>& quanta) {
  Packet* p = pool.allocate_elided();
  if (p == nullptr) return nullptr;
  wire::write_pfc(std::span<std::byte, wire::kMinFrameOctets>(p->header(), wire::kMinFrameOctets), source,
                  wire::PfcFrame{enable, quanta});
  p->stream = 0;
  p->offset = 0;
  p->sent = {};
  p->payload_octets = 0;
  p->frame_octets = kLeastFrameOctets;
  p->fec = kNoFec;
  p->address_hash = p->transport_hash = p->entropy = 0;
  p->header_octets = wire::kMinFrameOctets;
  p->l3_offset = 14;
  p->kind = FrameKind::kMacControl;
  p->traffic_class_octet = 0;
  p->pcp = 0;
  p->vid = 0;
  p->trimmed = 0;
  p->sampled = 0;
  return p;
}

std::expected<wire::PfcFrame, DropReason> read_pfc_frame(const Packet& packet) noexcept {
  if (packet.has(Packet::kFcsBad)) [[unlikely]]
    return std::unexpected(DropReason::kFcsError);
  return wire::parse_pfc(packet.header_span());
}

}  // namespace railyard
