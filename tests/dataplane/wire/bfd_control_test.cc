#include "dataplane/wire/bfd_control.h"

#include <gtest/gtest.h>

#include "dataplane/wire/quality_report.h"
#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kSender{{2, 0, 0, 0, 0, 1}};
const BfdControl kUp{.state = BfdState::kUp,
                     .diagnostic = BfdDiagnostic::kNone,
                     .multiplier = 3,
                     .my_discriminator = 5,
                     .your_discriminator = 7,
                     .min_tx_us = 300'000,
                     .min_rx_us = 300'000};

Octets written(const BfdControl& control) {
  Octets out(kMinFrameOctets, std::byte{0xAA});
  write_bfd_control(std::span(out).first<kMinFrameOctets>(), kSender, control);
  return out;
}

// Section 4.1 of RFC 5880: version 1, no diagnostic, state up (3), no flags, multiplier 3, 24 octets.
TEST(BfdControl, TheFrameIsOctetExact) {
  Octets expected = hex(
      "0180c200000e 020000000001 88b6 42 01 0000"
      "20 c0 03 18 00000005 00000007 000493e0 000493e0 00000000");
  expected.resize(kMinFrameOctets);
  EXPECT_EQ(to_hex(written(kUp)), to_hex(expected));
  EXPECT_EQ(parse_bfd_control(expected), kUp);
  EXPECT_TRUE(is_bfd_control(expected));
}

// kGiant: nothing was wrong.
DropReason refused(const Octets& frame) {
  const auto parsed = parse_bfd_control(frame);
  return parsed ? DropReason::kGiant : parsed.error();
}

TEST(BfdControl, WhatCannotBeIsRefused) {
  const auto changed = [](std::size_t at, std::uint8_t to) {
    Octets frame = written(kUp);
    frame[at] = std::byte{to};
    return refused(frame);
  };
  EXPECT_EQ(changed(15, 2), DropReason::kBadVersion);
  EXPECT_EQ(changed(18, 0x40), DropReason::kBadVersion) << "version 2 of BFD";
  EXPECT_EQ(changed(20, 0), DropReason::kBadLength) << "no multiplier";
  EXPECT_EQ(changed(21, 23), DropReason::kBadLength);
  EXPECT_EQ(changed(25, 0), DropReason::kBadLength) << "no discriminator";
  EXPECT_EQ(changed(29, 0), DropReason::kBadLength) << "up, and knows nobody";
  EXPECT_EQ(changed(0, 2), DropReason::kNotUnderstood) << "another destination";
  EXPECT_EQ(changed(14, kQualityReportSubtype), DropReason::kNotUnderstood);
}

TEST(BfdControl, ShortFramesAreRefusedAtEachLength) {
  const Octets whole = written(kUp);
  for (std::size_t n = 0; n < Ethernet::kOctets + BfdShim::kOctets + BfdHeader::kOctets; ++n) {
    const Octets part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(refused(part), DropReason::kTooShort) << n;
  }
}

}  // namespace
}  // namespace railyard::wire
