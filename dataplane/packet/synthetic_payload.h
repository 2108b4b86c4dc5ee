// Synthetic payload where it is made real: the pattern, and behind it the zeros that RoCEv2 pads with
// (roce-and-lossless §2.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/packet/crc_trailer.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard {

// How many octets of padding a RoCEv2 frame that we have made says that it has. `l3_offset`: of its IP header.
inline std::size_t roce_padding(std::span<const std::byte> header, std::size_t l3_offset) noexcept {
  if (header.size() <= l3_offset || !is_rocev2(header.subspan(l3_offset))) return 0;
  const bool v4 = (header[l3_offset] >> 4) == std::byte{4};
  const std::size_t bth =
      l3_offset + (v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets}) + wire::Udp::kOctets;
  return header.size() < bth + wire::Bth::kOctets ? 0 : wire::read<wire::Bth::PadCnt>(header.data() + bth);
}

// Writes payload and padding of a frame with an ICRC (`icrc`), or the payload of another.
inline void make_payload(std::span<const std::byte> header, std::size_t l3_offset, bool icrc, std::uint64_t stream,
                         std::uint64_t offset, std::span<std::byte> out) noexcept {
  std::size_t padding = icrc ? roce_padding(header, l3_offset) : 0;
  if (padding > out.size()) padding = out.size();
  const std::span<std::byte> payload = out.first(out.size() - padding);
  fill_payload(stream, offset, payload);
  for (std::byte& octet : out.last(padding)) octet = std::byte{0};
}

}  // namespace railyard
