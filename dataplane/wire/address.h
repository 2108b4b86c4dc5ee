// IP addresses and prefixes of both families in one form: 128 bits, IPv4 as ::ffff:a.b.c.d (RFC 4291 §2.5.5.2), as a
// RoCEv2 GID holds it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/base/hash.h"

namespace railyard::wire {

// 16 octets in network order; ordered as the big-endian number.
struct IpAddress {
  std::array<std::uint8_t, 16> octets{};

  constexpr IpAddress() noexcept = default;  // ::
  constexpr explicit IpAddress(const std::array<std::uint8_t, 16>& network_order) noexcept : octets(network_order) {}
  // An IPv4 address, e.g. 0x0A000001 for 10.0.0.1.
  constexpr explicit IpAddress(std::uint32_t v4) noexcept
      : octets(std::bit_cast<std::array<std::uint8_t, 16>>(
            std::array{std::uint64_t{0}, big_endian(0x0000'FFFF'0000'0000 | v4)})) {}

  constexpr bool operator==(const IpAddress& other) const noexcept {
    return high() == other.high() && low() == other.low();
  }
  constexpr std::strong_ordering operator<=>(const IpAddress& other) const noexcept {
    return high() == other.high() ? low() <=> other.low() : high() <=> other.high();
  }

  constexpr bool is_v4() const noexcept { return high() == 0 && low() >> 32 == 0xFFFF; }
  // The IPv4 address; is_v4() holds.
  constexpr std::uint32_t v4() const noexcept { return static_cast<std::uint32_t>(low()); }

  // 0.0.0.0 or ::
  constexpr bool is_unspecified() const noexcept { return *this == IpAddress{} || *this == IpAddress{0u}; }
  // 224.0.0.0/4 or ff00::/8
  constexpr bool is_multicast() const noexcept { return is_v4() ? v4() >> 28 == 0xE : octets[0] == 0xFF; }
  // 224.0.0.0/24 (RFC 5771 §4) or ff02::/16 (RFC 4291 §2.7)
  constexpr bool is_link_local_multicast() const noexcept {
    return is_v4() ? v4() >> 8 == 0xE00000 : octets[0] == 0xFF && octets[1] == 0x02;
  }
  // fe80::/10 (RFC 4291 §2.5.6); IPv4 has none here.
  constexpr bool is_link_local() const noexcept { return octets[0] == 0xFE && (octets[1] & 0xC0) == 0x80; }
  // 127.0.0.0/8 (RFC 1122 §3.2.1.3) or ::1 (RFC 4291 §2.5.3)
  constexpr bool is_loopback() const noexcept { return is_v4() ? v4() >> 24 == 127 : high() == 0 && low() == 1; }
  // 255.255.255.255
  constexpr bool is_broadcast() const noexcept { return *this == IpAddress{0xFFFFFFFFu}; }

  // The upper and lower 64 bits.
  constexpr std::uint64_t high() const noexcept { return half(0); }
  constexpr std::uint64_t low() const noexcept { return half(1); }

  // "10.0.0.1" or any form of RFC 4291 §2.2; nothing before or after it.
  static std::optional<IpAddress> parse(std::string_view text);

 private:
  static constexpr std::uint64_t big_endian(std::uint64_t n) noexcept {
    return std::endian::native == std::endian::little ? std::byteswap(n) : n;
  }
  constexpr std::uint64_t half(std::size_t i) const noexcept {
    return big_endian(std::bit_cast<std::array<std::uint64_t, 2>>(octets)[i]);
  }
};

// The canonical form (RFC 5952; dotted for IPv4), for reports.
std::string to_string(const IpAddress& address);

// The first `length` bits of `address`, counted in 128: an IPv4 /24 has length 120. The other bits are 0, as of() and
// parse() see to. Prefixes shorter than 96 that begin with zeros, ::/0 above all, contain IPv4 addresses too.
struct IpPrefix {
  IpAddress address;
  std::uint8_t length = 0;  // 0..128

  auto operator<=>(const IpPrefix&) const = default;

  constexpr bool contains(const IpAddress& other) const noexcept {
    return ((address.high() ^ other.high()) & high_mask()) == 0 && ((address.low() ^ other.low()) & low_mask()) == 0;
  }
  // An IPv4 prefix, of IPv4 length length - 96.
  constexpr bool is_v4() const noexcept { return length >= 96 && address.is_v4(); }

  // The prefix of `length` bits, 0..128, that contains `address`.
  static constexpr IpPrefix of(const IpAddress& address, std::uint8_t length) noexcept {
    IpPrefix prefix{address, length};
    for (std::size_t i = 0; i < 16; ++i) {
      const int own = std::clamp(static_cast<int>(length) - 8 * static_cast<int>(i), 0, 8);
      prefix.address.octets[i] = static_cast<std::uint8_t>(prefix.address.octets[i] & (0xFF00 >> own));
    }
    return prefix;
  }
  // "10.0.0.0/24" or "2001:db8::/32"; bits set beyond the length are refused: one of the two parts is mistaken.
  static std::optional<IpPrefix> parse(std::string_view text);

 private:
  static constexpr std::uint64_t mask(unsigned bits) noexcept {
    return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - bits);
  }
  constexpr std::uint64_t high_mask() const noexcept { return mask(std::min<unsigned>(length, 64)); }
  constexpr std::uint64_t low_mask() const noexcept { return mask(std::max<unsigned>(length, 64) - 64); }
};

std::string to_string(const IpPrefix& prefix);

}  // namespace railyard::wire

template <>
struct std::hash<railyard::wire::IpAddress> {
  std::size_t operator()(const railyard::wire::IpAddress& address) const noexcept {
    return railyard::hash_octets(std::as_bytes(std::span(address.octets)), 0);
  }
};
