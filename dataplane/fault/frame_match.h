// Which frames a fault is about.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/packet/packet.h"
#include "dataplane/wire/header_field.h"

namespace railyard {

// Everything said must hold; nothing said: every frame. Frames that do not parse have no headers but Ethernet's.
struct FrameMatch {
  // One of these tests holds, for each of the lists: a field of an IP header is elsewhere in the other version.
  std::vector<std::vector<wire::FieldTest>> all_of = {};
  std::uint32_t least_octets = 0;  // of the frame with FCS
  std::uint32_t most_octets = ~std::uint32_t{0};
  std::optional<std::uint64_t> stream = {};  // of the payload: a flow of the built-in generator
  // Of IP frames, the code points; of others none. And the priority code points of 802.1Q, untagged frames having 0.
  std::optional<std::uint64_t> dscps = {};  // bit n: code point n
  std::optional<std::uint8_t> pcps = {};

  // What carries UET in this lab, beside UDP port wire::kUetPort and IP protocol wire::ip_protocol::kUetNative, by
  // which every parser knows it.
  std::vector<std::uint16_t> uet_udp_ports = {};
  std::vector<std::uint8_t> uet_ip_protocols = {};

  // One of `one_of` must hold, too.
  void add(std::vector<wire::FieldTest> one_of);

  // What add() has found that can be asked of a packet without parsing it anew: a frame for which it does not hold does
  // not match.
  struct Bits {
    std::uint32_t mask = 0;
    std::uint32_t value = 0;
    bool hold(std::uint32_t word) const noexcept { return ((word ^ value) & mask) == 0; }
  };
  Bits ports = {};    // of Packet::transport_hash: source and destination port
  Bits entropy = {};  // of Packet::entropy: DestQP

  bool everything() const noexcept;
  bool matches(const Packet& packet) const noexcept;
};

}  // namespace railyard
