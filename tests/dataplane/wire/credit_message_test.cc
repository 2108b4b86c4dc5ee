#include "dataplane/wire/credit_message.h"

#include <gtest/gtest.h>

#include "dataplane/wire/quality_report.h"
#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kPort{{2, 0, 0, 0, 0, 1}};

CreditMessage two_classes() {
  CreditMessage m{CreditMessageType::kFreed, 5, 0b0000'1001, {}};
  m.count[0] = 1;
  m.count[3] = 0x1234'5678;
  return m;
}

Octets written(const CreditMessage& message) {
  Octets out(kMinFrameOctets, std::byte{0xAA});
  write_credit_message(std::span(out).first<kMinFrameOctets>(), kPort, message);
  return out;
}

TEST(CreditMessage, TheFrameIsOctetExact) {
  Octets expected = hex("0180c200000e 020000000001 88b6 43 01 01 05 09 000000 00000001 00000000 00000000 12345678");
  expected.resize(kMinFrameOctets);
  EXPECT_EQ(to_hex(written(two_classes())), to_hex(expected));
  EXPECT_EQ(parse_credit_message(expected), two_classes());
}

TEST(CreditMessage, CountsOfClassesThatAreNotSpokenOfAreZero) {
  CreditMessage m = two_classes();
  m.count[7] = 99;
  EXPECT_EQ(parse_credit_message(written(m)), two_classes());
}

TEST(CreditMessage, EveryPrefixIsTooShortUntilTheLastCount) {
  const Octets whole = written(two_classes());
  constexpr std::size_t kEnd = Ethernet::kOctets + CreditMessageHeader::kOctets + 8 * 4;
  for (std::size_t n = 0; n < kEnd; ++n)
    EXPECT_EQ(parse_credit_message(std::span(whole).first(n)).error(), DropReason::kTooShort) << n;
  EXPECT_EQ(parse_credit_message(std::span(whole).first(kEnd)), two_classes());
}

TEST(CreditMessage, WhatItIsNotIsRefused) {
  const auto with = [](std::size_t at, std::uint8_t octet) {
    Octets frame = written(two_classes());
    frame[at] = std::byte{octet};
    return parse_credit_message(frame);
  };
  constexpr std::size_t kHeader = Ethernet::kOctets;
  EXPECT_EQ(with(0, 0x33).error(), DropReason::kNotUnderstood) << "another address";
  EXPECT_EQ(with(kHeader, 0x44).error(), DropReason::kNotUnderstood) << "another subtype";
  EXPECT_EQ(with(kHeader + 1, 2).error(), DropReason::kBadVersion);
  EXPECT_EQ(with(kHeader + 2, 0).error(), DropReason::kNotUnderstood);
  EXPECT_EQ(with(kHeader + 2, 3).error(), DropReason::kNotUnderstood);
  EXPECT_EQ(with(kHeader + 3, 32).error(), DropReason::kBadLength);
  EXPECT_TRUE(with(kHeader + 2, 2).has_value());
}

TEST(CreditMessage, IsNoQualityReportAndNoneIsOne) {
  const Octets message = written(two_classes());
  EXPECT_TRUE(is_credit_message(message));
  EXPECT_FALSE(parse_quality_report(message).has_value());
  Octets report(kMinFrameOctets);
  write_quality_report(std::span(report).first<kMinFrameOctets>(), kPort,
                       {.first_port = 0, .ports = 1, .lifetime_us = 1, .band_end_ns = 1, .bands = {}});
  EXPECT_FALSE(is_credit_message(report));
}

}  // namespace
}  // namespace railyard::wire
