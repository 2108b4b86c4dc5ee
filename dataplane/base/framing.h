// What a frame takes of a link besides its own octets.
#pragma once

#include <cstdint>

namespace railyard {

inline constexpr std::uint32_t kPreambleOctets = 8;  // preamble and SFD, IEEE 802.3 §3.2.1, §3.2.2
inline constexpr std::uint32_t kGapOctets = 12;      // minimum interpacket gap, IEEE 802.3 §4.4.2

// Of a link, in both directions. Other values than Ethernet's stand for what lies below it or is not in the frame: of
// MACsec 32 octets more, say, or of a model whose headers are shorter than real ones so many less.
struct Framing {
  // A frame of 64 octets keeps 16 of them on the wire.
  static constexpr int kLeastPreamble = -48;
  static constexpr int kMost = 1000;

  int preamble = static_cast<int>(kPreambleOctets);  // octets before the frame, kLeastPreamble..kMost
  int gap = static_cast<int>(kGapOctets);            // octets after it, 0..kMost

  bool operator==(const Framing&) const = default;

  constexpr int around() const noexcept { return preamble + gap; }
  // Octets of time from the start of a frame of `octets`, FCS included, to its tail; and to the next start.
  constexpr std::uint32_t to_tail(std::uint32_t octets) const noexcept {
    return octets + static_cast<std::uint32_t>(preamble);
  }
  constexpr std::uint32_t slot(std::uint32_t octets) const noexcept {
    return octets + static_cast<std::uint32_t>(around());
  }
};

}  // namespace railyard
