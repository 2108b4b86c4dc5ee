#include "transports/base/serial_number.h"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using Serial24 = SerialNumber<struct TestTag, 24>;
using Serial32 = SerialNumber<struct TestTag, 32>;

TEST(SerialNumber, WrapsToZero) {
  EXPECT_EQ(Serial24(0xFFFFFF) + 1, Serial24(0));
  EXPECT_EQ(Serial24(0xFFFFF0) + 64, Serial24(0x30));
  EXPECT_EQ(Serial24(0) - 1, Serial24(0xFFFFFF));
  Serial24 n(0xFFFFFF);
  EXPECT_EQ(++n, Serial24(0));
  EXPECT_EQ(Serial32(0xFFFFFFFF) + 2, Serial32(1));
}

// roce-and-lossless.md §5.1: (int32_t)((a - b) << 8) >> 8.
TEST(SerialNumber, DifferenceIsSignedAcrossTheWrap) {
  EXPECT_EQ(Serial24(5) - Serial24(5), 0);
  EXPECT_EQ(Serial24(0) - Serial24(0xFFFFFF), 1);
  EXPECT_EQ(Serial24(0xFFFFFF) - Serial24(0), -1);
  EXPECT_EQ(Serial24(0x7FFFFF) - Serial24(0), 0x7FFFFF) << "the farthest ahead";
  EXPECT_EQ(Serial24(0x800000) - Serial24(0), -0x800000) << "the farthest behind";
  EXPECT_EQ(Serial32(0) - Serial32(0xFFFFFFFF), 1);
  EXPECT_EQ(Serial24::kMostAhead, 0x7FFFFFu);
}

TEST(SerialNumber, WhatIsAddedIsTheDifference) {
  std::minstd_rand draw(1);
  for (int i = 0; i < 10'000; ++i) {
    const Serial24 a(draw() & Serial24::kMax);
    const std::uint32_t n = draw() & Serial24::kMostAhead;
    ASSERT_EQ((a + n) - a, static_cast<std::int32_t>(n));
    ASSERT_EQ((a - n) - a, -static_cast<std::int32_t>(n));
    ASSERT_EQ((a + n) - n, a);
  }
}

}  // namespace
}  // namespace railyard
