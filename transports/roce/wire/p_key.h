// Partition keys (roce-and-lossless §2.5): who may talk to whom.
#pragma once

#include <cstdint>

namespace railyard::roce {

inline constexpr std::uint16_t kDefaultPKey = 0xFFFF;

// Whether a packet with key `a` reaches a QP with key `b`: the same partition (bits 14..0, not 0), and at least one of
// the two a full member (bit 15). A mismatch is a silent drop, never a NAK.
constexpr bool p_keys_match(std::uint16_t a, std::uint16_t b) noexcept {
  const unsigned partition = a & 0x7FFFu;
  return partition != 0 && partition == (b & 0x7FFFu) && ((a | b) & 0x8000u) != 0;
}

}  // namespace railyard::roce
