// IANA protocol numbers: the IPv4 protocol, the IPv6 next header.
#pragma once

#include <cstdint>

namespace railyard::wire::ip_protocol {

inline constexpr std::uint8_t kHopByHop = 0;  // IPv6 extension header, RFC 8200 §4.3
inline constexpr std::uint8_t kIcmp = 1;
inline constexpr std::uint8_t kTcp = 6;
inline constexpr std::uint8_t kUdp = 17;
inline constexpr std::uint8_t kRouting = 43;   // IPv6 extension header, RFC 8200 §4.4
inline constexpr std::uint8_t kFragment = 44;  // IPv6 extension header, RFC 8200 §4.5
inline constexpr std::uint8_t kIcmpv6 = 58;
inline constexpr std::uint8_t kNoNextHeader = 59;        // RFC 8200 §4.7
// RFC 3692 experimental; what implementations of native UET use in want of a number of its own.
inline constexpr std::uint8_t kUetNative = 253;
inline constexpr std::uint8_t kDestinationOptions = 60;  // IPv6 extension header, RFC 8200 §4.6

}  // namespace railyard::wire::ip_protocol
