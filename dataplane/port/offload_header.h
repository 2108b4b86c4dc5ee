// What a sender has left to its NIC, as the kernel says it in front of a frame: struct virtio_net_hdr, VIRTIO 1.2
// §5.1.6, in the processor's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/field.h"

namespace railyard {

struct OffloadHeader {
  std::uint8_t flags;
  std::uint8_t gso_type;
  std::uint16_t hdr_len;
  std::uint16_t gso_size;     // payload octets of a segment
  std::uint16_t csum_start;   // first octet that the checksum covers
  std::uint16_t csum_offset;  // from there to the checksum

  static constexpr std::uint8_t kNeedsChecksum = 1;  // flags: VIRTIO_NET_HDR_F_NEEDS_CSUM
  static constexpr std::uint8_t kNoGso = 0;          // gso_type
  static constexpr std::uint8_t kGsoTcpV4 = 1;
  static constexpr std::uint8_t kGsoTcpV6 = 4;
  static constexpr std::uint8_t kGsoUdp = 5;     // VIRTIO_NET_HDR_GSO_UDP_L4
  static constexpr std::uint8_t kGsoEcn = 0x80;  // beside a TCP type: the first segment says CWR

  static OffloadHeader read(const std::byte* at) noexcept {
    OffloadHeader header;
    std::memcpy(&header, at, sizeof header);
    return header;
  }
};
static_assert(sizeof(OffloadHeader) == 10);

// Completes the checksum of a whole frame if that was left to the NIC: its field holds the sum of the pseudo-header.
inline void complete_checksum(const OffloadHeader& offload, std::span<std::byte> frame) noexcept {
  constexpr std::uint16_t kOfUdp = 6;   // where the checksum is in a UDP header (RFC 768)
  constexpr std::uint16_t kOfSctp = 8;  // a CRC32c (RFC 9260 §6.8), which is no sum: it stays as it is
  if ((offload.flags & OffloadHeader::kNeedsChecksum) == 0 || offload.csum_offset == kOfSctp) return;
  if (std::size_t{offload.csum_start} + offload.csum_offset + 2 > frame.size()) return;
  std::uint16_t value = wire::internet_checksum(frame.subspan(offload.csum_start));
  if (value == 0 && offload.csum_offset == kOfUdp) value = 0xFFFF;
  wire::write<wire::Field<0, 16>>(frame.data() + offload.csum_start + offload.csum_offset, value);
}

}  // namespace railyard
