// The internet checksum, RFC 1071, and its update when a word changes, RFC 1624.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "dataplane/wire/address.h"
#include "dataplane/wire/ip_protocol.h"

namespace railyard::wire {

// The checksum of what was added, as 16-bit words in network order. It sums words as they lie in memory and swaps once
// at the end (RFC 1071 §2(B)).
class InternetChecksum {
 public:
  // All pieces but the last have an even number of octets.
  InternetChecksum& add(std::span<const std::byte> octets) noexcept {
    const std::byte* p = octets.data();
    std::size_t n = octets.size();
    for (; n >= 4; p += 4, n -= 4) sum_ += load<std::uint32_t>(p, 4);
    if (n >= 2) {
      sum_ += load<std::uint16_t>(p, 2);
      p += 2;
      n -= 2;
    }
    if (n > 0) sum_ += load<std::uint16_t>(p, 1);
    return *this;
  }
  InternetChecksum& add_word(std::uint16_t word) noexcept {
    sum_ += network_order(word);
    return *this;
  }

  // The value for the checksum field. Over octets that include their right checksum it is 0.
  std::uint16_t value() const noexcept {
    std::uint64_t sum = (sum_ & 0xFFFFFFFF) + (sum_ >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return network_order(static_cast<std::uint16_t>(~sum));
  }

 private:
  template <class Word>
  static Word load(const std::byte* p, std::size_t n) noexcept {
    Word word = 0;
    std::memcpy(&word, p, n);
    return word;
  }
  static constexpr std::uint16_t network_order(std::uint16_t word) noexcept {
    return std::endian::native == std::endian::little ? std::byteswap(word) : word;
  }

  std::uint64_t sum_ = 0;
};

inline std::uint16_t internet_checksum(std::span<const std::byte> octets) noexcept {
  return InternetChecksum().add(octets).value();
}

// Whether an IPv4 header without options has its right checksum.
inline bool has_right_checksum(std::span<const std::byte, 20> ipv4) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, ipv4.data() + 4 * i, sizeof word);
    sum += word;
  }
  sum = (sum & 0xFFFFFFFF) + (sum >> 32);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return (sum & 0xFFFF) + (sum >> 16) == 0xFFFF;
}

// The checksum after one 16-bit word that it covers has changed from `m` to `m_new`: HC' = ~(~HC + ~m + m'), RFC 1624
// eqn. 3.
constexpr std::uint16_t updated_checksum(std::uint16_t hc, std::uint16_t m, std::uint16_t m_new) noexcept {
  std::uint32_t sum = (hc ^ 0xFFFFu) + (m ^ 0xFFFFu) + m_new;
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// A checksum begun with the pseudo-header of UDP (RFC 768), TCP (RFC 9293 §3.1) or ICMPv6 (RFC 8200 §8.1).
// The ::ffff: of two IPv4 addresses adds twice 0xFFFF, which is 0 in ones' complement, so both families are added
// alike.
inline InternetChecksum pseudo_header(const IpAddress& source, const IpAddress& destination, std::uint8_t protocol,
                                      std::uint32_t octets) noexcept {
  return InternetChecksum()
      .add(std::as_bytes(std::span(source.octets)))
      .add(std::as_bytes(std::span(destination.octets)))
      .add_word(protocol)
      .add_word(static_cast<std::uint16_t>(octets >> 16))
      .add_word(static_cast<std::uint16_t>(octets & 0xFFFF));
}

// The checksum of a whole TCP segment or ICMPv6 message whose checksum field is 0; 0 if the field holds the right one.
inline std::uint16_t transport_checksum(const IpAddress& source, const IpAddress& destination, std::uint8_t protocol,
                                        std::span<const std::byte> segment) noexcept {
  return pseudo_header(source, destination, protocol, static_cast<std::uint32_t>(segment.size())).add(segment).value();
}

// The same for a UDP datagram, where 0 is sent as 0xFFFF because 0 means "none" (RFC 768).
inline std::uint16_t udp_checksum(const IpAddress& source, const IpAddress& destination,
                                  std::span<const std::byte> datagram) noexcept {
  const std::uint16_t value = transport_checksum(source, destination, ip_protocol::kUdp, datagram);
  return value == 0 ? 0xFFFF : value;
}

}  // namespace railyard::wire
