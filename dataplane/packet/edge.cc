#include "dataplane/packet/edge.h"

#include "dataplane/base/hash.h"

namespace railyard {

namespace {

std::uint32_t hash_addresses(const wire::FrameView& view) noexcept {
  const std::uint64_t source = mix64(mix64(view.source.high() + 1) ^ view.source.low());
  const std::uint64_t both = mix64(mix64(source ^ view.destination.high()) ^ view.destination.low()) + view.protocol;
  return static_cast<std::uint32_t>(mix64(both) >> 32);
}

// Everything but what follows from the addresses.
void describe_headers(Packet& packet, const wire::FrameView& view) noexcept {
  packet.kind = view.kind;
  packet.l3_offset = static_cast<std::uint8_t>(view.l3_offset);
  packet.header_octets = view.header_octets;
  packet.flags = static_cast<std::uint8_t>(view.tagged ? packet.flags | Packet::kTagged
                                                       : packet.flags & ~unsigned{Packet::kTagged});
  packet.pcp = view.pcp & 7;
  packet.vid = view.vid & 0xFFF;
  packet.trimmed = view.trimmed;
  packet.sampled = 0;
  packet.copied = 0;
  packet.telemetry = 0;
  packet.traffic_class_octet = view.traffic_class_octet;
  packet.entropy = view.uet_entropy ? Packet::kUetEntropy | *view.uet_entropy : view.destination_qp;
  packet.transport_hash = std::uint32_t{view.source_port} << 16 | view.destination_port;
}

bool is_ip(const wire::FrameView& view) noexcept {
  return view.kind == FrameKind::kIpv4 || view.kind == FrameKind::kIpv6;
}

}  // namespace

void describe(Packet& packet, const wire::FrameView& view, const FecTable& fecs) noexcept {
  describe_headers(packet, view);
  packet.fec = is_ip(view) ? fecs.lookup(view.destination) : kNoFec;
  packet.address_hash = hash_addresses(view);
}

void describe(Packet& packet, const wire::FrameView& view, const FecTable& fecs, AddressMemo& memo) noexcept {
  if (!is_ip(view)) [[unlikely]]
    return describe(packet, view, fecs);
  if (!memo.valid || memo.protocol != view.protocol || memo.destination != view.destination ||
      memo.source != view.source) {
    memo = {view.source, view.destination, fecs.lookup(view.destination), hash_addresses(view), view.protocol, true};
  }
  describe_headers(packet, view);
  packet.fec = memo.fec;
  packet.address_hash = memo.address_hash;
}

}  // namespace railyard
