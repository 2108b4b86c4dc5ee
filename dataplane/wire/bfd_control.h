// Control packets of Bidirectional Forwarding Detection (RFC 5880, section 4.1) between two switches.
//
// DEVIATION: RFC 5881 sends them by UDP over IP. Here they follow the Ethernet header, in a frame that no bridge
// forwards: links between emulated switches need no addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "dataplane/base/drop_reason.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/field.h"

namespace railyard::wire {

// After the Ethernet header with the Local Experimental EtherType 2: subtype and version (IEEE 802-2014 §9.2.4), and 16
// bits of zero.
struct BfdShim {
  static constexpr std::size_t kOctets = 4;
  using Subtype = Field<0, 8>;
  using Version = Field<8, 8>;
  using Reserved = Field<16, 16>;
};

// The mandatory section. Intervals are in microseconds.
struct BfdHeader {
  static constexpr std::size_t kOctets = 24;
  using Version = Field<0, 3>;
  using Diagnostic = Field<3, 5>;
  using State = Field<8, 2>;
  using Flags = Field<10, 6>;
  using DetectMultiplier = Field<16, 8>;
  using Length = Field<24, 8>;
  using MyDiscriminator = Field<32, 32>;
  using YourDiscriminator = Field<64, 32>;
  using DesiredMinTx = Field<96, 32>;
  using RequiredMinRx = Field<128, 32>;
  using RequiredMinEchoRx = Field<160, 32>;
};
static_assert(tiles<BfdHeader::kOctets, BfdHeader::Version, BfdHeader::Diagnostic, BfdHeader::State, BfdHeader::Flags,
                    BfdHeader::DetectMultiplier, BfdHeader::Length, BfdHeader::MyDiscriminator,
                    BfdHeader::YourDiscriminator, BfdHeader::DesiredMinTx, BfdHeader::RequiredMinRx,
                    BfdHeader::RequiredMinEchoRx>());

inline constexpr std::uint8_t kBfdSubtype = 0x42;

enum class BfdState : std::uint8_t { kAdminDown, kDown, kInit, kUp };
enum class BfdDiagnostic : std::uint8_t { kNone = 0, kDetectionTimeExpired = 1, kNeighborSignaledDown = 3 };

struct BfdControl {
  BfdState state = BfdState::kDown;
  BfdDiagnostic diagnostic = BfdDiagnostic::kNone;
  std::uint8_t multiplier = 3;            // > 0
  std::uint32_t my_discriminator = 1;     // > 0
  std::uint32_t your_discriminator = 0;   // 0: not known
  std::uint32_t min_tx_us = 0;            // this sender's interval
  std::uint32_t min_rx_us = 0;

  bool operator==(const BfdControl&) const = default;
};

// Writes a whole frame but for its FCS.
void write_bfd_control(std::span<std::byte, kMinFrameOctets> out, MacAddress source,
                       const BfdControl& control) noexcept;

// Whether a frame is one, going by its EtherType and subtype.
bool is_bfd_control(std::span<const std::byte> frame) noexcept;

// Reads an untagged frame that is one. kTooShort: it ends before the mandatory section does; kBadVersion; kBadLength: a
// length, a multiplier or a discriminator that cannot be (RFC 5880, section 6.8.6).
[[nodiscard]] std::expected<BfdControl, DropReason> parse_bfd_control(std::span<const std::byte> frame) noexcept;

}  // namespace railyard::wire
