// ICMP for IPv4, RFC 792: the header, and the errors that a router reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"
#include "dataplane/wire/link_header.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+---------------+-------------------------------+
//  |     Type      |     Code      |           Checksum            |
//  +---------------+---------------+-------------------------------+
//  |          by type: 0; identifier and sequence number; MTU      |
//  +---------------------------------------------------------------+
struct Icmp {
  static constexpr std::size_t kOctets = 8;
  using Type = Field<0, 8>;
  using Code = Field<8, 8>;
  using Checksum = Field<16, 16>;
  using Rest = Field<32, 32>;

  using Identifier = Field<32, 16>;  // echo request and reply
  using SequenceNumber = Field<48, 16>;
  using NextHopMtu = Field<48, 16>;  // fragmentation needed, RFC 1191 §4
};
static_assert(tiles<Icmp::kOctets, Icmp::Type, Icmp::Code, Icmp::Checksum, Icmp::Rest>());
static_assert(tiles<Icmp::kOctets, Icmp::Type, Icmp::Code, Icmp::Checksum, Icmp::Identifier, Icmp::SequenceNumber>());

namespace icmp_type {
inline constexpr std::uint8_t kEchoReply = 0;
inline constexpr std::uint8_t kDestinationUnreachable = 3;
inline constexpr std::uint8_t kSourceQuench = 4;
inline constexpr std::uint8_t kRedirect = 5;
inline constexpr std::uint8_t kEchoRequest = 8;
inline constexpr std::uint8_t kTimeExceeded = 11;
inline constexpr std::uint8_t kParameterProblem = 12;
}  // namespace icmp_type

// Codes of "destination unreachable".
namespace icmp_unreachable {
inline constexpr std::uint8_t kNet = 0;
inline constexpr std::uint8_t kHost = 1;
inline constexpr std::uint8_t kFragmentationNeeded = 4;
}  // namespace icmp_unreachable

// An ICMP error carries as much of the packet it is about as lets it have at most this length (RFC 1812 §4.3.2.3).
inline constexpr std::size_t kIcmpErrorMaxIpOctets = 576;

// What a router reports about a packet that it does not forward.
struct IcmpError {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;  // Icmp::Rest

  static constexpr IcmpError time_exceeded() noexcept { return {icmp_type::kTimeExceeded, 0, 0}; }
  static constexpr IcmpError unreachable(std::uint8_t code) noexcept {
    return {icmp_type::kDestinationUnreachable, code, 0};
  }
  static constexpr IcmpError fragmentation_needed(std::uint16_t next_hop_mtu) noexcept {
    return {icmp_type::kDestinationUnreachable, icmp_unreachable::kFragmentationNeeded, next_hop_mtu};
  }
};

// Whether an error may be reported about `frame`, an IPv4 frame that parse_frame() has accepted as `view`: not about
// ICMP errors, later fragments, and what was not sent from one host to one other (RFC 1812 §4.3.2.7).
bool icmp_error_allowed(std::span<const std::byte> frame, const FrameView& view) noexcept;

// Writes `error` from `source`, an address of the router, to the source of `original`. It quotes what of the IP packet
// lies in `original`, the first octets of the frame, within the limit above. Returns the octets of the frame; 0 if no
// error may be reported or if it does not fit `out`.
std::size_t write_icmp_error(std::span<std::byte> out, const LinkHeader& link, const IpAddress& source,
                             const IcmpError& error, std::span<const std::byte> original,
                             const FrameView& view) noexcept;

}  // namespace railyard::wire
