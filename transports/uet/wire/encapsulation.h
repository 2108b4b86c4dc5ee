// What stands around a UET packet: IP with UDP, or with the entropy header, in front; a CRC behind. UET page §1, after
// UE-Spec 1.0 §3.2.5.
//
//   Ethernet | IPv4 or IPv6 | UDP or entropy header | UET packet | CRC, or with TSS an ICV
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "dataplane/wire/address.h"
#include "dataplane/wire/ecn.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"

namespace railyard::uet {

inline constexpr std::size_t kCrcOctets = 4;

// DSCPs by what they are for, UET page §1.4, after UE-Spec 1.0 tables 3-69 and 3-70: 0..63, a matter of the deployment.
// All differ, but the last two from each other.
struct DscpConfig {
  std::uint8_t trimmable = 0;  // requests, and responses with data
  std::uint8_t control = 46;   // ACK, NACK, CP, RUDI responses without data
  // What a switch writes into what it has cut; at the last hop it may write another. No source has defaults.
  std::optional<std::uint8_t> trimmed{};
  std::optional<std::uint8_t> trimmed_lasthop{};

  bool operator==(const DscpConfig&) const = default;
};

struct EncapsulationConfig {
  // DEVIATION: without UDP the packet follows an entropy header, and the IP protocol is an experimental one, for want
  // of a number of its own (UET page §1.3).
  bool udp = true;
  // DEVIATION: 4793, as most sources have it (UET page §13 item 1).
  std::uint16_t udp_port = wire::kUetPort;
  std::uint8_t ip_protocol = wire::ip_protocol::kUetNative;
  // DEVIATION: nothing in the headers says whether there is a CRC, and sources disagree; both sides are told (UET page
  // §13 item 2). Secured packets have none.
  bool crc = true;
  // DEVIATION: most significant octet first, as the code of the reference provider has it; false: as iSCSI does it (UET
  // page §13 item 3).
  bool crc_msb_first = true;
  DscpConfig dscp{};
  std::uint8_t hop_limit = 64;
  bool ect = true;  // requests, and responses with data, are ECN-capable: ECT(0)

  bool operator==(const EncapsulationConfig&) const = default;

  constexpr std::size_t trailer_octets() const noexcept { return crc ? kCrcOctets : 0; }
};

// What is said of one packet in front of it.
struct OuterHeaders {
  wire::MacAddress source_mac{};
  wire::MacAddress next_hop_mac{};
  wire::IpAddress source{};  // both of one family
  wire::IpAddress destination{};
  std::uint8_t dscp = 0;
  wire::Ecn ecn = wire::Ecn::kEct0;
  std::uint16_t entropy = 0;  // the UDP source port, or in the entropy header

  bool operator==(const OuterHeaders&) const = default;
};

inline constexpr std::size_t kMostOuterOctets = wire::Ethernet::kOctets + wire::Ipv6::kOctets + wire::Udp::kOctets;

// Octets of the headers from Ethernet to UDP or the entropy header.
std::size_t outer_octets(const EncapsulationConfig& config, const OuterHeaders& outer) noexcept;

// Writes them in front of `inner_octets` octets, of the UET packet with its trailer, and returns how many they are; 0
// if they do not fit `out`, or if the IP packet would be longer than IP allows. IPv4 has DF, identification 0 and no
// options, UDP no checksum.
std::size_t encode_outer(std::span<std::byte> out, const EncapsulationConfig& config, const OuterHeaders& outer,
                         std::size_t inner_octets) noexcept;

// The CRC of `ip_packet`, from its IP header to the last octet before the CRC: of everything from the source address
// on. At least an IP header.
std::uint32_t crc_of(std::span<const std::byte> ip_packet) noexcept;

// The CRC at the end of a packet.
void write_crc(std::byte* at, std::uint32_t crc, bool msb_first) noexcept;
[[nodiscard]] std::uint32_t read_crc(const std::byte* at, bool msb_first) noexcept;

enum class Trimmed : std::uint8_t { kNo, kTrimmed, kTrimmedLasthop };

// A packet taken out of its frame.
struct Inner {
  std::span<const std::byte> octets{};  // from the TSS or PDS header on, as much as there is; without trailer
  std::size_t packet_octets = 0;        // how many they are when all are there
  std::uint16_t entropy = 0;
  Trimmed trimmed = Trimmed::kNo;  // cut by a switch: there is no trailer, and only the PDS header counts
  bool secured = false;            // begins with a TSS header, is encrypted, and has an ICV behind it
  bool crc_checked = false;        // there is a CRC, it was all there and is right
};

// Why a frame holds no UET packet for this side.
enum class NotUet : std::uint8_t {
  kOther,      // another IP protocol or UDP port, or a fragment
  kTooShort,   // no room for an entropy header or the trailer
  kBadLength,  // the UDP length is not what IP says
  kBadCrc,
  kCount
};
inline constexpr std::size_t kNotUetReasons = static_cast<std::size_t>(NotUet::kCount);

// The name in reports, e.g. "bad_crc".
std::string_view name(NotUet reason) noexcept;

// Takes the packet out of a frame that wire::parse_frame() has seen, of which at least the headers lie in `frame`, its
// first octets. The CRC is checked if all of the packet is there. Whether a packet was trimmed is asked first (UET page
// §10.6): its DSCP says so, or a UDP length beyond the end of the IP packet.
[[nodiscard]] std::expected<Inner, NotUet> decapsulate(std::span<const std::byte> frame, const wire::FrameView& view,
                                                       const EncapsulationConfig& config) noexcept;

}  // namespace railyard::uet
