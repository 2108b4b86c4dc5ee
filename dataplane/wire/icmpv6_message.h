// What all ICMPv6 messages of our own begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/address.h"
#include "dataplane/wire/link_header.h"

namespace railyard::wire {

// IPv6 header fields of a message.
struct Icmpv6Envelope {
  IpAddress source;
  IpAddress destination;
  std::uint8_t traffic_class_octet = 0xC0;  // internetwork control, as RFC 1812 §4.3.2.5 has it for IPv4
  std::uint8_t hop_limit = 64;
};

// Writes link and IPv6 headers for a message of `message_octets`; returns its place, which is in `out`, or nullptr if
// the frame does not fit.
std::byte* begin_icmpv6(std::span<std::byte> out, const LinkHeader& link, const Icmpv6Envelope& envelope,
                        std::size_t message_octets) noexcept;

// Fills in the checksum, when the message is complete but for it.
void finish_icmpv6(std::span<std::byte> message, const Icmpv6Envelope& envelope) noexcept;

}  // namespace railyard::wire
