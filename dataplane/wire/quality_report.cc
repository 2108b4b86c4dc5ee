#include "dataplane/wire/quality_report.h"

#include <algorithm>

namespace railyard::wire {

void write_quality_report(std::span<std::byte, kMinFrameOctets> out, MacAddress source,
                          const QualityReport& report) noexcept {
  using H = QualityReportHeader;
  std::ranges::fill(out, std::byte{0});
  write<Ethernet::Destination>(out, kNearestBridgeGroup);
  write<Ethernet::Source>(out, source);
  write<Ethernet::EtherType>(out, kQualityReportEtherType);
  std::byte* const header = out.data() + Ethernet::kOctets;
  write<H::Subtype>(header, kQualityReportSubtype);
  write<H::Version>(header, kQualityReportVersion);
  write<H::FirstPort>(header, report.first_port);
  write<H::Ports>(header, report.ports);
  write<H::Lifetime>(header, report.lifetime_us);
  write<H::BandEnd>(header, report.band_end_ns);
  std::byte* const bands = header + H::kOctets;
  for (std::size_t i = 0; i < report.ports; ++i)
    bands[i / 2] |= std::byte{report.bands[i]} << (i % 2 == 0 ? 4 : 0);
}

bool is_quality_report(std::span<const std::byte> frame) noexcept {
  return frame.size() >= Ethernet::kOctets && read<Ethernet::EtherType>(frame.data()) == kQualityReportEtherType;
}

std::expected<QualityReport, DropReason> parse_quality_report(std::span<const std::byte> frame) noexcept {
  using H = QualityReportHeader;
  if (frame.size() < Ethernet::kOctets + H::kOctets) return std::unexpected(DropReason::kTooShort);
  const std::byte* const header = frame.data() + Ethernet::kOctets;
  if (!is_quality_report(frame) || read<Ethernet::Destination>(frame.data()) != kNearestBridgeGroup ||
      read<H::Subtype>(header) != kQualityReportSubtype)
    return std::unexpected(DropReason::kNotUnderstood);
  if (read<H::Version>(header) != kQualityReportVersion) return std::unexpected(DropReason::kBadVersion);
  QualityReport report;
  report.first_port = read<H::FirstPort>(header);
  report.ports = read<H::Ports>(header);
  report.lifetime_us = read<H::Lifetime>(header);
  report.band_end_ns = read<H::BandEnd>(header);
  if (report.ports == 0 || report.ports > QualityReport::kMostPorts || report.lifetime_us == 0 ||
      report.band_end_ns == 0)
    return std::unexpected(DropReason::kBadLength);
  const auto bands = frame.subspan(Ethernet::kOctets + H::kOctets);
  if (bands.size() < (report.ports + std::size_t{1}) / 2) return std::unexpected(DropReason::kTooShort);
  for (std::size_t i = 0; i < report.ports; ++i)
    report.bands[i] = std::to_integer<std::uint8_t>(i % 2 == 0 ? bands[i / 2] >> 4 : bands[i / 2] & std::byte{0xF});
  return report;
}

}  // namespace railyard::wire
