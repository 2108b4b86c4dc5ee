#include "dataplane/wire/quality_report.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kReporter{{2, 0, 0, 0, 0, 1}};

QualityReport five_ports() {
  return {.first_port = 3, .ports = 5, .lifetime_us = 160, .band_end_ns = 1000, .bands = {0, 1, 14, 15, 7}};
}

Octets written(const QualityReport& report) {
  Octets out(kMinFrameOctets, std::byte{0xAA});
  write_quality_report(std::span(out).first<kMinFrameOctets>(), kReporter, report);
  return out;
}

TEST(QualityReport, TheFrameIsOctetExact) {
  Octets expected = hex("0180c200000e 020000000001 88b6 51 01 0003 05 00 00a0 000003e8 01ef 70");
  expected.resize(kMinFrameOctets);
  EXPECT_EQ(to_hex(written(five_ports())), to_hex(expected));
  EXPECT_EQ(parse_quality_report(expected), five_ports());
}

TEST(QualityReport, TellsOfSixtyEightPortsAtMost) {
  QualityReport most{.first_port = 0xFFFF, .ports = 68, .lifetime_us = 0xFFFF, .band_end_ns = 0xFFFF'FFFF, .bands = {}};
  static_assert(QualityReport::kMostPorts == 68);
  for (std::size_t i = 0; i < 68; ++i) most.bands[i] = static_cast<std::uint8_t>(i % 16);
  EXPECT_EQ(parse_quality_report(written(most)), most);
}

TEST(QualityReport, EveryPrefixOfAFrameIsTooShortUntilItsLastBand) {
  const Octets whole = written(five_ports());
  constexpr std::size_t kEnd = Ethernet::kOctets + QualityReportHeader::kOctets + 3;
  for (std::size_t n = 0; n < kEnd; ++n)
    EXPECT_EQ(parse_quality_report(std::span(whole).first(n)).error(), DropReason::kTooShort) << n;
  EXPECT_EQ(parse_quality_report(std::span(whole).first(kEnd)), five_ports()) << "padding says nothing";
}

TEST(QualityReport, ANumberOfPortsThatCannotBeIsALie) {
  for (const std::uint8_t ports : std::array<std::uint8_t, 3>{0, 69, 255}) {
    Octets frame = written(five_ports());
    write<QualityReportHeader::Ports>(frame.data() + Ethernet::kOctets, ports);
    EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kBadLength) << int{ports};
  }
  Octets frame = written(five_ports());
  write<QualityReportHeader::Ports>(frame.data() + Ethernet::kOctets, 68);
  frame.resize(kMinFrameOctets - 1);
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kTooShort);
}

TEST(QualityReport, ALifetimeOrABandOfZeroCannotBe) {
  Octets frame = written(five_ports());
  write<QualityReportHeader::Lifetime>(frame.data() + Ethernet::kOctets, 0);
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kBadLength);
  frame = written(five_ports());
  write<QualityReportHeader::BandEnd>(frame.data() + Ethernet::kOctets, 0);
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kBadLength);
}

TEST(QualityReport, OthersOfItsEtherTypeAreNone) {
  Octets frame = written(five_ports());
  write<QualityReportHeader::Subtype>(frame.data() + Ethernet::kOctets, 0x52);
  EXPECT_TRUE(is_quality_report(frame)) << "by its EtherType";
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kNotUnderstood);
  frame = written(five_ports());
  write<QualityReportHeader::Version>(frame.data() + Ethernet::kOctets, 2);
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kBadVersion);
  frame = written(five_ports());
  write<Ethernet::Destination>(frame.data(), MacAddress{{0x01, 0x80, 0xC2, 0, 0, 1}});
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kNotUnderstood);
  frame = written(five_ports());
  write<Ethernet::EtherType>(frame.data(), ether_type::kMacControl);
  EXPECT_FALSE(is_quality_report(frame));
  EXPECT_EQ(parse_quality_report(frame).error(), DropReason::kNotUnderstood);
}

}  // namespace
}  // namespace railyard::wire
