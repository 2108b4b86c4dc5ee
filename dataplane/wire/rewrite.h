// What a router changes in an IP header that it forwards: TTL, DSCP, ECN. The IPv4 header checksum follows by RFC 1624;
// a RoCEv2 ICRC covers none of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ecn.h"
#include "dataplane/wire/field.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"

namespace railyard::wire {

// Each takes the first octet of a checked IPv4 or IPv6 header.

// RFC 1812 §5.3.1; the TTL is not 0. The word with the TTL falls by 0x0100: ~m + m' is always 0xFEFF.
inline void decrement_ttl_v4(std::byte* ip) noexcept {
  write<Ipv4::TTL>(ip, static_cast<std::uint8_t>(read<Ipv4::TTL>(ip) - 1));
  write<Ipv4::HeaderChecksum>(ip, updated_checksum(read<Ipv4::HeaderChecksum>(ip), 0x0100, 0));
}

// RFC 8200 §3; the hop limit is not 0.
inline void decrement_ttl_v6(std::byte* ip) noexcept {
  write<Ipv6::HopLimit>(ip, static_cast<std::uint8_t>(read<Ipv6::HopLimit>(ip) - 1));
}

// DSCP and ECN together.
inline void set_traffic_class_v4(std::byte* ip, std::uint8_t traffic_class_octet) noexcept {
  // The octet before it in the same word stays: ~m + m' does not depend on it.
  const std::uint16_t m = read<Ipv4::TrafficClass>(ip);
  write<Ipv4::TrafficClass>(ip, traffic_class_octet);
  write<Ipv4::HeaderChecksum>(ip, updated_checksum(read<Ipv4::HeaderChecksum>(ip), m, traffic_class_octet));
}
inline void set_traffic_class_v6(std::byte* ip, std::uint8_t traffic_class_octet) noexcept {
  write<Ipv6::TrafficClass>(ip, traffic_class_octet);
}

// `dscp` < 64; the ECN field stays.
inline void set_dscp_v4(std::byte* ip, std::uint8_t dscp) noexcept {
  set_traffic_class_v4(ip, static_cast<std::uint8_t>(dscp << 2 | read<Ipv4::ECN>(ip)));
}
inline void set_dscp_v6(std::byte* ip, std::uint8_t dscp) noexcept { write<Ipv6::DSCP>(ip, dscp); }

// Marks "congestion experienced", RFC 3168 §5. Whether it may (ECT) is the caller's decision.
inline void set_ce_v4(std::byte* ip) noexcept {
  set_traffic_class_v4(ip, read<Ipv4::TrafficClass>(ip) | static_cast<std::uint8_t>(Ecn::kCe));
}
inline void set_ce_v6(std::byte* ip) noexcept { write<Ipv6::ECN>(ip, static_cast<std::uint8_t>(Ecn::kCe)); }

}  // namespace railyard::wire
