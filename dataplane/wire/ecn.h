// The ECN field of an IP header, RFC 3168 §5.
#pragma once

#include <cstdint>

namespace railyard::wire {

// The two low-order bits of the IPv4 TOS octet and of the IPv6 traffic class.
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

constexpr Ecn ecn_of(std::uint8_t traffic_class_octet) noexcept { return static_cast<Ecn>(traffic_class_octet & 3); }

}  // namespace railyard::wire
