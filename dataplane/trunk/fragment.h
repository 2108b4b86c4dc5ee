// A trunk's messages in Ethernet frames: each in as many fragments as the frames of the way make necessary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "dataplane/base/hash.h"
#include "dataplane/trunk/message.h"
#include "dataplane/trunk/trunk_wire.h"
#include "dataplane/wire/field.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

// The first of the two EtherTypes for local experiments, IEEE 802-2014 §9.2.4. What follows begins with a subtype and a
// version, as required there.
inline constexpr std::uint16_t kTrunkEtherType = 0x88B5;

// Behind the Ethernet header; then `Piece` octets of the message, of its last fragment the rest, and padding. All
// numbers are big-endian.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+---------------+---------------+
//  |            Subtype            |    Version    |     Index     |
//  +-------------------------------+---------------+---------------+
//  |                            Message                            |
//  +-------------------------------+-------------------------------+
//  |         MessageOctets         |             Piece             |
//  +-------------------------------+-------------------------------+
struct TrunkFragmentHeader {
  static constexpr std::size_t kOctets = 12;
  using Subtype = wire::Field<0, 16>;
  using Version = wire::Field<16, 8>;
  using Index = wire::Field<24, 8>;     // of the fragment: its octets begin at Index * Piece
  using Message = wire::Field<32, 32>;  // numbers the messages of a sender
  using MessageOctets = wire::Field<64, 16>;
  using Piece = wire::Field<80, 16>;

  static constexpr std::uint16_t kSubtype = 0x5259;  // "RY"
  static constexpr std::uint8_t kVersion = 1;
};
static_assert(wire::tiles<TrunkFragmentHeader::kOctets, TrunkFragmentHeader::Subtype, TrunkFragmentHeader::Version,
                          TrunkFragmentHeader::Index, TrunkFragmentHeader::Message, TrunkFragmentHeader::MessageOctets,
                          TrunkFragmentHeader::Piece>());

// The longest message: a frame with all that stands in front of it.
inline constexpr std::uint32_t kMostTrunkMessageOctets = kTrunkFrameOctets + kMostTrunkFrameOctets;
inline constexpr std::uint32_t kMostTrunkFragments = 64;
// What a frame must carry behind its Ethernet header so that the longest message goes.
inline constexpr std::uint32_t kLeastTrunkMtu =
    static_cast<std::uint32_t>(TrunkFragmentHeader::kOctets) +
    (kMostTrunkMessageOctets + kMostTrunkFragments - 1) / kMostTrunkFragments;

// The address of a trunk's end: a unicast one, locally administered (IEEE 802-2014 §8.2), another after each start as
// the session is.
constexpr wire::MacAddress trunk_mac(std::uint64_t session) noexcept {
  std::uint64_t bits = mix64(session);
  wire::MacAddress mac;
  for (std::uint8_t& octet : mac.octets) {
    octet = static_cast<std::uint8_t>(bits & 0xFF);
    bits >>= 8;
  }
  mac.octets[0] = static_cast<std::uint8_t>((mac.octets[0] & 0xFC) | 0x02);
  return mac;
}

// How a message of so many octets is cut: all fragments are `piece` long but the last, which has the rest.
struct TrunkCut {
  std::uint32_t message_octets = 0;
  std::uint32_t piece = 0;

  constexpr std::uint32_t fragments() const noexcept { return (message_octets + piece - 1) / piece; }
  constexpr std::uint32_t octets(std::uint32_t index) const noexcept {
    const std::uint32_t left = message_octets - index * piece;
    return left < piece ? left : piece;
  }
  bool operator==(const TrunkCut&) const = default;
};

// Into as few fragments as go with frames that carry `mtu` octets behind their Ethernet header (at least
// kLeastTrunkMtu), about equally long.
constexpr TrunkCut cut_trunk_message(std::uint32_t message_octets, std::uint32_t mtu) noexcept {
  const std::uint32_t most = mtu - static_cast<std::uint32_t>(TrunkFragmentHeader::kOctets);
  const std::uint32_t fragments = (message_octets + most - 1) / most;
  return {message_octets, (message_octets + fragments - 1) / fragments};
}

struct TrunkFragment {
  std::uint32_t message = 0;
  TrunkCut cut;
  std::uint32_t index = 0;
  std::span<const std::byte> octets;
};

// A fragment on its way.
struct TrunkCarrier {
  wire::MacAddress destination;
  wire::MacAddress source;
  TrunkFragment fragment;
};

// Octets of the frame that carries a fragment of so many, without FCS: no frame is shorter than Ethernet allows.
std::size_t trunk_carrier_octets(std::uint32_t fragment_octets) noexcept;

// Writes the frame that carries fragment `index` of a message, trunk_carrier_octets(cut.octets(index)) long, and pads
// it with zeros. `message`: cut.message_octets long in its two pieces.
void write_trunk_carrier(std::span<std::byte> out, const TrunkCarrier& head, const TrunkDatagram& message) noexcept;

// Reads a frame without FCS; a priority tag (IEEE 802.1Q: VID 0) is passed over, and what is of a VLAN is foreign,
// perhaps of another trunk. What it returns fits together: the fragment is one of its message, at most
// kMostTrunkFragments of at most kMostTrunkMessageOctets, and its octets are there.
[[nodiscard]] std::expected<TrunkCarrier, TrunkError> parse_trunk_carrier(std::span<const std::byte> frame) noexcept;

}  // namespace railyard
