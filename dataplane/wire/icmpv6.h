// ICMP for IPv6, RFC 4443: the header, and the errors that a router reports.
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
struct Icmpv6 {
  static constexpr std::size_t kOctets = 8;  // every type has at least these
  using Type = Field<0, 8>;
  using Code = Field<8, 8>;
  using Checksum = Field<16, 16>;  // with the pseudo-header
  using Rest = Field<32, 32>;

  using Identifier = Field<32, 16>;  // echo request and reply
  using SequenceNumber = Field<48, 16>;
  using Mtu = Field<32, 32>;  // packet too big
};
static_assert(tiles<Icmpv6::kOctets, Icmpv6::Type, Icmpv6::Code, Icmpv6::Checksum, Icmpv6::Rest>());
static_assert(
    tiles<Icmpv6::kOctets, Icmpv6::Type, Icmpv6::Code, Icmpv6::Checksum, Icmpv6::Identifier, Icmpv6::SequenceNumber>());
static_assert(tiles<Icmpv6::kOctets, Icmpv6::Type, Icmpv6::Code, Icmpv6::Checksum, Icmpv6::Mtu>());

// Types below 128 are errors.
namespace icmpv6_type {
inline constexpr std::uint8_t kDestinationUnreachable = 1;
inline constexpr std::uint8_t kPacketTooBig = 2;
inline constexpr std::uint8_t kTimeExceeded = 3;
inline constexpr std::uint8_t kEchoRequest = 128;
inline constexpr std::uint8_t kEchoReply = 129;
inline constexpr std::uint8_t kNeighbourSolicitation = 135;   // RFC 4861 §4.3
inline constexpr std::uint8_t kNeighbourAdvertisement = 136;  // RFC 4861 §4.4
inline constexpr std::uint8_t kRedirect = 137;                // RFC 4861 §4.5
}  // namespace icmpv6_type

// Codes of "destination unreachable".
namespace icmpv6_unreachable {
inline constexpr std::uint8_t kNoRoute = 0;
inline constexpr std::uint8_t kAddress = 3;
}  // namespace icmpv6_unreachable

// An ICMPv6 error carries as much of the packet it is about as lets it have at most the least IPv6 MTU (RFC 4443
// §2.4(c)).
inline constexpr std::size_t kIcmpv6ErrorMaxIpOctets = 1280;

// What a router reports about a packet that it does not forward.
struct Icmpv6Error {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;  // Icmpv6::Rest

  static constexpr Icmpv6Error time_exceeded() noexcept { return {icmpv6_type::kTimeExceeded, 0, 0}; }
  static constexpr Icmpv6Error unreachable(std::uint8_t code) noexcept {
    return {icmpv6_type::kDestinationUnreachable, code, 0};
  }
  static constexpr Icmpv6Error packet_too_big(std::uint32_t mtu) noexcept {
    return {icmpv6_type::kPacketTooBig, 0, mtu};
  }
};

// Whether `error` may be reported about `frame`, an IPv6 frame that parse_frame() has accepted as `view`: not about
// ICMPv6 errors and redirects, nor to a source that is not one host, nor, "packet too big" apart, about what was sent
// to many (RFC 4443 §2.4(e)).
bool icmpv6_error_allowed(const Icmpv6Error& error, std::span<const std::byte> frame, const FrameView& view) noexcept;

// Writes `error` from `source`, an address of the router, to the source of `original`. It quotes what of the IP packet
// lies in `original`, the first octets of the frame, within the limit above. Returns the octets of the frame; 0 if no
// error may be reported or if it does not fit `out`.
std::size_t write_icmpv6_error(std::span<std::byte> out, const LinkHeader& link, const IpAddress& source,
                               const Icmpv6Error& error, std::span<const std::byte> original,
                               const FrameView& view) noexcept;

}  // namespace railyard::wire
