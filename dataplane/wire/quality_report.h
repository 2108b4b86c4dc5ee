// What a switch tells its neighbours about the links behind it, for global load balancing: a frame of our own, since
// what vendors send each other is not public (the routing side of it is draft-ietf-idr-next-next-hop-nodes).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "dataplane/base/drop_reason.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/field.h"

namespace railyard::wire {

// What follows the Ethernet header with the Local Experimental EtherType 2. Subtype and version come first, as
// IEEE 802-2014 §9.2.4 asks of protocols that share this type.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+---------------+-------------------------------+
//  |    Subtype    |    Version    |           First port          |
//  +---------------+---------------+-------------------------------+
//  |     Ports     |   Reserved    |         Lifetime (us)         |
//  +---------------+---------------+-------------------------------+
//  |                      End of band 0 (ns)                       |
//  +-------+-------+-------+-------+-------------------------------+
//  | port 0| port 1| port 2| ...        34 octets: the bands of
//  +-------+-------+-------+-------+    `Ports` ports, the rest zero
struct QualityReportHeader {
  static constexpr std::size_t kOctets = 12;
  using Subtype = Field<0, 8>;
  using Version = Field<8, 8>;
  using FirstPort = Field<16, 16>;
  using Ports = Field<32, 8>;
  using Reserved = Field<40, 8>;
  using Lifetime = Field<48, 16>;
  using BandEnd = Field<64, 32>;
};
static_assert(tiles<QualityReportHeader::kOctets, QualityReportHeader::Subtype, QualityReportHeader::Version,
                    QualityReportHeader::FirstPort, QualityReportHeader::Ports, QualityReportHeader::Reserved,
                    QualityReportHeader::Lifetime, QualityReportHeader::BandEnd>());

inline constexpr std::uint16_t kQualityReportEtherType = 0x88B6;
inline constexpr std::uint8_t kQualityReportSubtype = 0x51;
inline constexpr std::uint8_t kQualityReportVersion = 1;
// "Nearest bridge" (IEEE 802.1Q table 8-1): no bridge forwards it.
inline constexpr MacAddress kNearestBridgeGroup{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E}};

// The quality of some consecutive ports of the sender, by the time that their queues take to drain: band 0 ends at
// `band_end_ns`, each of the others at twice where the one before does, and band 14 has no end.
struct QualityReport {
  // As many as a frame of least length has room for.
  static constexpr std::size_t kMostPorts = 2 * (kMinFrameOctets - Ethernet::kOctets - QualityReportHeader::kOctets);
  static constexpr std::uint8_t kWorstBand = 14;
  static constexpr std::uint8_t kNoLink = 15;  // nothing can be sent that way

  std::uint16_t first_port = 0;  // numbered from 0
  std::uint8_t ports = 0;        // 1..kMostPorts
  std::uint16_t lifetime_us = 0; // no band but kNoLink is believed in for longer; > 0
  std::uint32_t band_end_ns = 0; // > 0
  std::array<std::uint8_t, kMostPorts> bands{};  // of `ports` ports: 0..kNoLink

  bool operator==(const QualityReport&) const = default;
};

// Writes a whole frame but for its FCS. `report` is within the limits above.
void write_quality_report(std::span<std::byte, kMinFrameOctets> out, MacAddress source,
                          const QualityReport& report) noexcept;

// Whether a frame is one, going by its EtherType.
bool is_quality_report(std::span<const std::byte> frame) noexcept;

// Reads an untagged frame of that EtherType. kTooShort: it ends before the bands that it announces; kNotUnderstood:
// another subtype, or another address than its group's; kBadVersion; kBadLength: a number of ports, a lifetime or a
// band that cannot be.
[[nodiscard]] std::expected<QualityReport, DropReason> parse_quality_report(std::span<const std::byte> frame) noexcept;

}  // namespace railyard::wire
