// MAC addresses, IEEE 802 §8.2 (EUI-48).
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "dataplane/base/hash.h"

namespace railyard::wire {

// Six octets in the order of transmission.
struct MacAddress {
  std::array<std::uint8_t, 6> octets{};

  auto operator<=>(const MacAddress&) const = default;
  // The I/G bit: a group address, broadcast included.
  constexpr bool is_multicast() const noexcept { return (octets[0] & 1) != 0; }
  constexpr bool is_broadcast() const noexcept { return *this == MacAddress{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}; }
};

inline constexpr MacAddress kBroadcastMac{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

// For comparing: six octets in memory order, of an address or where a frame has one (8 octets are read).
inline std::uint64_t mac_word(const std::byte* octets) noexcept {
  std::uint64_t word;
  std::memcpy(&word, octets, sizeof word);
  return word & (std::endian::native == std::endian::little ? 0xFFFF'FFFF'FFFF : 0xFFFF'FFFF'FFFF'0000);
}
inline std::uint64_t mac_word(MacAddress address) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, address.octets.data(), address.octets.size());
  return word;
}

// "02:00:00:00:00:01", for reports.
std::string to_string(MacAddress address);

}  // namespace railyard::wire

template <>
struct std::hash<railyard::wire::MacAddress> {
  std::size_t operator()(const railyard::wire::MacAddress& address) const noexcept {
    return railyard::hash_octets(std::as_bytes(std::span(address.octets)), 0);
  }
};
