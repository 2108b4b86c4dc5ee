// A payload in which one bit is not what was sent, and no FCS says so. Real octets have the bit; synthetic payload gets
// it where it is made real.
#pragma once

#include <cstddef>
#include <span>

#include "dataplane/packet/packet.h"

namespace railyard {

// Which bit: the last one of the first octet. Doing it twice undoes it.
inline void flip_corrupted_bit(std::span<std::byte> payload) noexcept {
  if (!payload.empty()) payload[0] ^= std::byte{1};
}

// Corrupts `packet`. False: it has no payload, and is as it was.
inline bool corrupt(Packet& packet) noexcept {
  if (packet.payload_octets == 0) return false;
  if (packet.has(Packet::kCorrupted)) return true;
  packet.flags |= Packet::kCorrupted;
  if (!packet.has(Packet::kElided)) flip_corrupted_bit({packet.header() + packet.header_octets, packet.payload_octets});
  return true;
}

}  // namespace railyard
