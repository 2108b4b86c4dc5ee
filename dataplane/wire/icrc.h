// The invariant CRC of a RoCEv2 packet, IBTA Vol 1 Annex A17 §A17.3.3: a CRC-32 over what no router may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/crc32.h"

namespace railyard::wire {

inline constexpr std::size_t kIcrcOctets = kCrc32Octets;

// An ICRC over headers in one piece and everything after them in as many as there are.
class Icrc {
 public:
  // `headers`: from the first octet of the IP header (either family) through the last one of the BTH; at least that
  // many.
  explicit Icrc(std::span<const std::byte> headers) noexcept;

  // Extension headers, payload and padding, in order.
  void update(std::span<const std::byte> octets) noexcept { crc_ = crc32(octets, crc_); }

  // The number that write_crc32() puts at the end of the packet.
  std::uint32_t value() const noexcept { return crc_; }

 private:
  std::uint32_t crc_;
};

// The ICRC of `packet`, which reaches from the IP header (no IPv6 extension headers) to the last octet before the ICRC.
// At least an IP header, a UDP header and a BTH.
std::uint32_t icrc(std::span<const std::byte> packet) noexcept;

// Whether the last four octets of `packet`, which begins with the IP header and is cut to the IP length, are its ICRC.
// False for one too short to have one.
bool icrc_matches(std::span<const std::byte> packet) noexcept;

}  // namespace railyard::wire
