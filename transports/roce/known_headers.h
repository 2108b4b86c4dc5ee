// Headers that came before: frames of one flow begin with the same octets, from Ethernet to UDP, so what was found right
// in one need not be looked for in the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/udp.h"

namespace railyard::roce {

// Of datagrams over IPv4 without tags and options, which are most: their headers have one length.
class KnownHeaders {
 public:
  static constexpr std::size_t kIpAt = wire::Ethernet::kOctets;
  static constexpr std::size_t kUdpAt = kIpAt + wire::Ipv4::kOctets;
  static constexpr std::size_t kOctets = kUdpAt + wire::Udp::kOctets;

  // Whether a frame of `frame_octets` octets, of which `octets` are there, had these headers when it was noted.
  bool has(std::span<const std::byte> octets, std::size_t frame_octets) const noexcept {
    if (octets.size() < kOctets) return false;
    const Known& known = known_[place(octets)];
    return known.frame_octets == frame_octets && known.there == octets.size() &&
           same(known.octets.data(), octets.data());
  }
  // This frame's headers are a RoCEv2 datagram's of that shape, its checksum and lengths right.
  void note(std::span<const std::byte> octets, std::size_t frame_octets) noexcept {
    Known& known = known_[place(octets)];
    known.frame_octets = static_cast<std::uint32_t>(frame_octets);
    known.there = static_cast<std::uint32_t>(octets.size());
    std::memcpy(known.octets.data(), octets.data(), kOctets);
  }

 private:
  // Word by word, and the last two octets: a call of memcmp() costs as much again.
  static bool same(const std::byte* a, const std::byte* b) noexcept {
    static_assert(kOctets % 8 == 2);
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i + 8 <= kOctets; i += 8) differ |= word<std::uint64_t>(a + i) ^ word<std::uint64_t>(b + i);
    return (differ | (word<std::uint16_t>(a + kOctets - 2) ^ word<std::uint16_t>(b + kOctets - 2))) == 0;
  }
  template <class Word>
  static Word word(const std::byte* at) noexcept {
    Word w;
    std::memcpy(&w, at, sizeof w);
    return w;
  }

  // By traffic class (a mark changes it), length and source: a NIC that sends and receives hears data and ACKs.
  static std::size_t place(std::span<const std::byte> octets) noexcept {
    const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(octets[i]); };
    return (at(kIpAt + 1) + at(kIpAt + 3) + at(kIpAt + 15)) % kMany;
  }

  static constexpr std::size_t kMany = 4;
  struct alignas(64) Known {
    std::uint32_t frame_octets = 0;  // 0: none
    std::uint32_t there = 0;
    std::array<std::byte, kOctets> octets{};
  };
  std::array<Known, kMany> known_{};
};

}  // namespace railyard::roce
