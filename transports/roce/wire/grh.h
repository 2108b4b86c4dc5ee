// What stands for the global route header in front of a datagram in a UD receive buffer
// (roce-and-lossless §5.14).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "dataplane/wire/address.h"

namespace railyard::roce {

// Every UD receive buffer begins with these, and the completion's length counts them.
inline constexpr std::size_t kGrhOctets = 40;

// Fills them from the packet's IP header, which begins at `ip` and is whole: of IPv6 the header itself, of IPv4 20
// zeros and the header (no options).
void write_grh(std::span<std::byte, kGrhOctets> out, std::span<const std::byte> ip) noexcept;

// Who sent the datagram to whom; both of one family. The addresses are the GIDs.
struct GrhAddresses {
  wire::IpAddress source;
  wire::IpAddress destination;

  bool operator==(const GrhAddresses&) const = default;
};

// Reads them back, as verbs users do: an IPv4 header with its right checksum at octet 20, else IPv6. nullopt: neither.
std::optional<GrhAddresses> read_grh(std::span<const std::byte, kGrhOctets> grh) noexcept;

}  // namespace railyard::roce
