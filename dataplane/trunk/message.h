// What the two ends of a trunk say to each other: pings and frames, one per datagram of the network between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <variant>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/packet/packet.h"
#include "dataplane/wire/field.h"

namespace railyard {

// In front of every message. All numbers are big-endian.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                             Magic                             |
//  +---------------+---------------+-------------------------------+
//  |    Version    |     Type      |           Reserved            |
//  +---------------+---------------+-------------------------------+
//  |                            Session                            |
//  |                                                               |
//  +---------------------------------------------------------------+
//  |                          PeerSession                          |
//  |                                                               |
//  +---------------------------------------------------------------+
//  |                            Sequence                           |
//  |                                                               |
//  +---------------------------------------------------------------+
struct TrunkHeader {
  static constexpr std::size_t kOctets = 32;
  using Magic = wire::Field<0, 32>;
  using Version = wire::Field<32, 8>;
  using Type = wire::Field<40, 8>;
  using Reserved = wire::Field<48, 16>;
  using Session = wire::Field<64, 64>;       // of the sender: another after each of its starts
  using PeerSession = wire::Field<128, 64>;  // of the receiver as the sender hears it; 0: it hears nobody
  using Sequence = wire::Field<192, 64>;     // of a frame its number; of a ping that of the next frame

  static constexpr std::uint32_t kMagic = 0x52595452;  // "RYTR"
  static constexpr std::uint8_t kVersion = 1;
};
static_assert(
    wire::tiles<TrunkHeader::kOctets, TrunkHeader::Magic, TrunkHeader::Version, TrunkHeader::Type,
                TrunkHeader::Reserved, TrunkHeader::Session, TrunkHeader::PeerSession, TrunkHeader::Sequence>());

enum class TrunkMessageType : std::uint8_t { kPing = 1, kFrame = 2 };

// Behind the header of a ping. Instants are of modelled time, in picoseconds since their owner's run began.
struct TrunkPingBody {
  static constexpr std::size_t kOctets = 72;
  using Sent = wire::Field<0, 64>;            // the sender's clock
  using EchoSent = wire::Field<64, 64>;       // Sent of the last ping that the sender has received; 0: of none
  using EchoReceived = wire::Field<128, 64>;  // when that was, by the sender's clock
  using Received = wire::Field<192, 64>;      // all frames below this number are delivered or given up
  using Begins = wire::Field<256, 64>;  // the first frame that is for PeerSession; those below were for earlier ones
  using Rate = wire::Field<320, 64>;    // of the modelled link, bit/s
  using Delay = wire::Field<384, 64>;   // its propagation, ps
  using ScaleNumerator = wire::Field<448, 32>;
  using ScaleDenominator = wire::Field<480, 32>;
  using Mtu = wire::Field<512, 32>;
  using LinkUp = wire::Field<544, 1>;  // nobody has taken the sender's end down
  using Reserved = wire::Field<545, 31>;
};
static_assert(
    wire::tiles<TrunkPingBody::kOctets, TrunkPingBody::Sent, TrunkPingBody::EchoSent, TrunkPingBody::EchoReceived,
                TrunkPingBody::Received, TrunkPingBody::Begins, TrunkPingBody::Rate, TrunkPingBody::Delay,
                TrunkPingBody::ScaleNumerator, TrunkPingBody::ScaleDenominator, TrunkPingBody::Mtu,
                TrunkPingBody::LinkUp, TrunkPingBody::Reserved>());

// Behind the header of a frame; then the frame's headers, and its payload unless that is synthetic.
struct TrunkFrameBody {
  static constexpr std::size_t kOctets = 48;
  using Start = wire::Field<0, 64>;       // when its first octet left the switch port, by the sender's clock
  using FirstSent = wire::Field<64, 64>;  // ... and the first NIC
  using Stream = wire::Field<128, 64>;    // identity of the payload
  using Offset = wire::Field<192, 64>;
  using FrameOctets = wire::Field<256, 32>;  // with FCS
  using PayloadOctets = wire::Field<288, 32>;
  using HeaderOctets = wire::Field<320, 16>;
  using Flags = wire::Field<336, 8>;  // Packet::kElided, kIcrcPending, kFcsBad, kCorrupted
  using Reserved = wire::Field<344, 40>;
};
static_assert(
    wire::tiles<TrunkFrameBody::kOctets, TrunkFrameBody::Start, TrunkFrameBody::FirstSent, TrunkFrameBody::Stream,
                TrunkFrameBody::Offset, TrunkFrameBody::FrameOctets, TrunkFrameBody::PayloadOctets,
                TrunkFrameBody::HeaderOctets, TrunkFrameBody::Flags, TrunkFrameBody::Reserved>());

// The link as both ends must model it.
struct TrunkTerms {
  BitRate rate{};
  Duration delay{};
  std::uint32_t mtu = 0;
  std::uint32_t scale_numerator = 1;
  std::uint32_t scale_denominator = 1;

  bool operator==(const TrunkTerms&) const = default;
};

struct TrunkHead {
  std::uint64_t session = 0;
  std::uint64_t peer_session = 0;
  std::uint64_t sequence = 0;

  bool operator==(const TrunkHead&) const = default;
};

struct TrunkPing {
  Instant sent{};
  Instant echo_sent{};
  Instant echo_received{};
  std::uint64_t received = 0;
  std::uint64_t begins = 0;
  TrunkTerms terms;
  bool link_up = false;

  bool operator==(const TrunkPing&) const = default;
};

// A frame of a message, whose octets the spans are.
struct TrunkFrame {
  Instant start{};
  Instant first_sent{};
  std::uint64_t stream = 0;
  std::uint64_t offset = 0;
  std::uint32_t frame_octets = 0;
  std::uint32_t payload_octets = 0;
  std::uint8_t flags = 0;
  std::span<const std::byte> header;
  std::span<const std::byte> payload;  // empty if it is synthetic

  static constexpr std::uint8_t kFlags = Packet::kElided | Packet::kIcrcPending | Packet::kFcsBad | Packet::kCorrupted;
};

struct TrunkMessage {
  TrunkHead head;
  std::variant<TrunkPing, TrunkFrame> body;
};

enum class TrunkError : std::uint8_t {
  kForeign,    // not one of ours: too short for the header, or another magic
  kVersion,    // of another version
  kMalformed,  // a length or an instant that cannot be
};

inline constexpr std::size_t kTrunkPingOctets = TrunkHeader::kOctets + TrunkPingBody::kOctets;
// What stands in front of a frame's own octets.
inline constexpr std::size_t kTrunkFrameOctets = TrunkHeader::kOctets + TrunkFrameBody::kOctets;
// Headers of a frame that are carried apart from its payload, at most.
inline constexpr std::size_t kMostTrunkHeaderOctets = 256;
// Longest frame: an IP packet of 9216 octets with Ethernet header, tag and FCS.
inline constexpr std::uint32_t kMostTrunkFrameOctets = 9216 + 14 + 4 + 4;

void write_ping(std::span<std::byte, kTrunkPingOctets> out, const TrunkHead& head, const TrunkPing& ping) noexcept;
// All but the frame's own octets, which follow: its headers, and its payload unless that is synthetic.
void write_frame(std::span<std::byte, kTrunkFrameOctets> out, const TrunkHead& head, const TrunkFrame& frame) noexcept;

// Reads a whole message. What it returns fits together: lengths are those of `octets`, instants lie in 0..2^62 ps and
// can be added to and subtracted from each other.
[[nodiscard]] std::expected<TrunkMessage, TrunkError> parse_trunk_message(std::span<const std::byte> octets) noexcept;

}  // namespace railyard
