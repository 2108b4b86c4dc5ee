// The Ethernet header, IEEE 802.3 §3.2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                          Destination                          |
//  +                               +-------------------------------+
//  |                               |                               |
//  +-------------------------------+                               +
//  |                            Source                             |
//  +-------------------------------+-------------------------------+
//  |           EtherType           |
//  +-------------------------------+
struct Ethernet {
  static constexpr std::size_t kOctets = 14;
  using Destination = OctetField<0, MacAddress>;
  using Source = OctetField<48, MacAddress>;
  using EtherType = Field<96, 16>;
};
static_assert(tiles<Ethernet::kOctets, Ethernet::Destination, Ethernet::Source, Ethernet::EtherType>());

// IEEE 802 EtherType assignments.
namespace ether_type {
inline constexpr std::uint16_t kIpv4 = 0x0800;
inline constexpr std::uint16_t kArp = 0x0806;
inline constexpr std::uint16_t kVlan = 0x8100;  // the 802.1Q tag (C-TAG)
inline constexpr std::uint16_t kIpv6 = 0x86DD;
inline constexpr std::uint16_t kMacControl = 0x8808;
}  // namespace ether_type

// The shortest frame without its FCS (IEEE 802.3 §4A.4.2); shorter ones are padded by the MAC that sends them.
inline constexpr std::size_t kMinFrameOctets = 60;
inline constexpr std::size_t kFcsOctets = 4;

}  // namespace railyard::wire
