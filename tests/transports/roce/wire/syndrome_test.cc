#include "transports/roce/wire/syndrome.h"

#include <array>

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

using namespace literals;

// The table of roce-and-lossless.md §5.6.
TEST(Syndrome, OfEveryOctet) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const Syndrome syndrome = parse_syndrome(static_cast<std::uint8_t>(octet));
    const SyndromeType expected = octet < 0x20   ? SyndromeType::kAck
                                  : octet < 0x40 ? SyndromeType::kRnrNak
                                  : octet < 0x60 ? SyndromeType::kReserved
                                  : octet < 0x80 ? SyndromeType::kNak
                                                 : SyndromeType::kReserved;
    EXPECT_EQ(syndrome.type, expected) << octet;
    EXPECT_EQ(syndrome.value, octet % 32) << octet;
    if (octet < 0x80) {
      EXPECT_EQ(to_octet(syndrome), octet);
    }
  }
  EXPECT_EQ(to_octet(Syndrome::nak(NakCode::kPsnSequenceError)), 0x60);
  EXPECT_EQ(to_octet(Syndrome::nak(NakCode::kInvalidRequest)), 0x61);
  EXPECT_EQ(to_octet(Syndrome::nak(NakCode::kRemoteAccessError)), 0x62);
  EXPECT_EQ(to_octet(Syndrome::nak(NakCode::kRemoteOperationalError)), 0x63);
  EXPECT_EQ(to_octet(Syndrome::nak(NakCode::kInvalidRdRequest)), 0x64);
  EXPECT_EQ(to_octet(Syndrome::ack(kNoCreditLimit)), 0x1F);
  EXPECT_EQ(to_octet(Syndrome::rnr_nak(12)), 0x2C);
}

TEST(Syndrome, CreditsOfEveryCode) {
  const std::array<std::uint32_t, 31> expected = {0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
                                                  48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
                                                  2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
  for (std::uint8_t code = 0; code < 31; ++code) {
    EXPECT_EQ(credits(code), expected[code]) << int{code};
    EXPECT_EQ(credit_code(expected[code]), code);
  }
  EXPECT_EQ(credits(kNoCreditLimit), std::nullopt);
  EXPECT_EQ(credit_code(5), 4) << "never more than there are";
  EXPECT_EQ(credit_code(1'000'000), 30);
}

// roce-and-lossless.md §5.8, in milliseconds.
TEST(Syndrome, RnrDelayOfEveryCode) {
  const std::array<double, 32> expected = {655.36, 0.01,  0.02,  0.03,   0.04,   0.06,   0.08,   0.12,
                                           0.16,   0.24,  0.32,  0.48,   0.64,   0.96,   1.28,   1.92,
                                           2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                           40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
  for (std::uint8_t code = 0; code < 32; ++code) {
    EXPECT_DOUBLE_EQ(static_cast<double>(rnr_delay(code).ps), expected[code] * 1e9) << int{code};
    EXPECT_EQ(rnr_code(rnr_delay(code)), code);
  }
  EXPECT_EQ(rnr_code(0_ms), 1);
  EXPECT_EQ(rnr_code(650_us), 13);
  EXPECT_EQ(rnr_code(500_ms), 0);
  EXPECT_EQ(rnr_code(1_s), 0);
}

TEST(Syndrome, NaksHaveNames) {
  EXPECT_EQ(nak_name(0), "PSN sequence error");
  EXPECT_EQ(nak_name(4), "invalid RD request");
  EXPECT_EQ(nak_name(5), "reserved");
}

}  // namespace
}  // namespace railyard::roce
