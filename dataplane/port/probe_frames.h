// Frames that tell what a cable carries: each is of another kind that NICs and drivers are known to keep or to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace railyard::probe {

using Octets = std::vector<std::byte>;

// All begin with Ethernet and have no FCS. `number` makes each another one. Addresses are of the locally administered
// range and of TEST-NET-1 (RFC 5737), so that nobody means them.

// EtherType 0x88B5 (IEEE 802 local experimental 1), of `octets` octets (at least 60).
Octets plain(std::uint32_t number, std::size_t octets);
// The same with an IEEE 802.1Q tag: VLAN 100, PCP 3.
Octets tagged(std::uint32_t number);
// A PFC frame that ends all pauses, so that none begins: IEEE 802.1Q clause 36, all times 0.
Octets pfc(std::uint32_t number);
// A PAUSE frame of time 0: IEEE 802.3 annex 31B.
Octets pause(std::uint32_t number);

// What differs in a RoCEv2 packet (IBTA annex A17): UDP port 4791, BTH, ICRC; IPv4, DSCP 26.
struct RoceVariant {
  std::uint8_t ecn = 2;  // ECT(0)
  bool bad_ip_checksum = false;
  bool bad_udp_checksum = false;  // else none, as is usual
};
Octets roce(std::uint32_t number, const RoceVariant& variant);
Octets roce(std::uint32_t number);

// Whether `received` is `sent`: behind it there may be padding to the shortest frame.
bool same(const Octets& sent, const std::byte* received, std::size_t octets) noexcept;

// The number of a plain frame; 0 if it is none.
std::uint32_t number_of(const std::byte* frame, std::size_t octets) noexcept;

}  // namespace railyard::probe
