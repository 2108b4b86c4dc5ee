#include "dataplane/wire/bfd_control.h"

#include <algorithm>

#include "dataplane/wire/quality_report.h"

namespace railyard::wire {
namespace {

constexpr std::uint8_t kShimVersion = 1;
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kHeaderAt = Ethernet::kOctets + BfdShim::kOctets;

}  // namespace

void write_bfd_control(std::span<std::byte, kMinFrameOctets> out, MacAddress source,
                       const BfdControl& control) noexcept {
  using H = BfdHeader;
  std::ranges::fill(out, std::byte{0});
  write<Ethernet::Destination>(out, kNearestBridgeGroup);
  write<Ethernet::Source>(out, source);
  write<Ethernet::EtherType>(out, kQualityReportEtherType);
  std::byte* const shim = out.data() + Ethernet::kOctets;
  write<BfdShim::Subtype>(shim, kBfdSubtype);
  write<BfdShim::Version>(shim, kShimVersion);
  std::byte* const header = out.data() + kHeaderAt;
  write<H::Version>(header, kVersion);
  write<H::Diagnostic>(header, static_cast<std::uint8_t>(control.diagnostic));
  write<H::State>(header, static_cast<std::uint8_t>(control.state));
  write<H::DetectMultiplier>(header, control.multiplier);
  write<H::Length>(header, static_cast<std::uint8_t>(H::kOctets));
  write<H::MyDiscriminator>(header, control.my_discriminator);
  write<H::YourDiscriminator>(header, control.your_discriminator);
  write<H::DesiredMinTx>(header, control.min_tx_us);
  write<H::RequiredMinRx>(header, control.min_rx_us);
}

bool is_bfd_control(std::span<const std::byte> frame) noexcept {
  return frame.size() > Ethernet::kOctets && read<Ethernet::EtherType>(frame.data()) == kQualityReportEtherType &&
         std::to_integer<std::uint8_t>(frame[Ethernet::kOctets]) == kBfdSubtype;
}

std::expected<BfdControl, DropReason> parse_bfd_control(std::span<const std::byte> frame) noexcept {
  using H = BfdHeader;
  if (frame.size() < kHeaderAt + H::kOctets) return std::unexpected(DropReason::kTooShort);
  if (!is_bfd_control(frame) || read<Ethernet::Destination>(frame.data()) != kNearestBridgeGroup)
    return std::unexpected(DropReason::kNotUnderstood);
  const std::byte* const header = frame.data() + kHeaderAt;
  if (read<BfdShim::Version>(frame.data() + Ethernet::kOctets) != kShimVersion || read<H::Version>(header) != kVersion)
    return std::unexpected(DropReason::kBadVersion);
  BfdControl control{.state = static_cast<BfdState>(read<H::State>(header)),
                     .diagnostic = static_cast<BfdDiagnostic>(read<H::Diagnostic>(header)),
                     .multiplier = read<H::DetectMultiplier>(header),
                     .my_discriminator = read<H::MyDiscriminator>(header),
                     .your_discriminator = read<H::YourDiscriminator>(header),
                     .min_tx_us = read<H::DesiredMinTx>(header),
                     .min_rx_us = read<H::RequiredMinRx>(header)};
  // A session that is up knows its neighbour.
  const bool knows_nobody = control.your_discriminator == 0 && control.state >= BfdState::kInit;
  if (read<H::Length>(header) < H::kOctets || control.multiplier == 0 || control.my_discriminator == 0 || knows_nobody)
    return std::unexpected(DropReason::kBadLength);
  return control;
}

}  // namespace railyard::wire
