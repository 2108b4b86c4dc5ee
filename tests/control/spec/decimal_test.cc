#include "control/spec/decimal.h"

#include <limits>

#include <gtest/gtest.h>

namespace railyard::spec {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Decimal, IsReadDigitByDigit) {
  EXPECT_EQ(Decimal::parse("0")->digits, 0u);
  EXPECT_EQ(Decimal::parse("12")->digits, 12u);
  EXPECT_EQ(Decimal::parse("2.5")->digits, 25u);
  EXPECT_EQ(Decimal::parse("2.5")->scale, 1);
  EXPECT_EQ(Decimal::parse("0.001")->scale, 3);
  EXPECT_EQ(Decimal::parse("007")->digits, 7u);
}

TEST(Decimal, ForgetsZerosAtItsEnd) {
  EXPECT_EQ(Decimal::parse("1.50")->digits, 15u);
  EXPECT_EQ(Decimal::parse("1.50")->scale, 1);
  EXPECT_TRUE(Decimal::parse("3.000")->whole());
}

TEST(Decimal, IsNothingElse) {
  for (const char* text :
       {"", ".", "1.", ".5", "1.5.5", "-1", "+1", "1e3", "1_000", " 1", "1 ", "x", "0x10", "1,5", "\xC2\xB2"})
    EXPECT_FALSE(Decimal::parse(text)) << text;
}

TEST(Decimal, HasAtMostNineteenDigits) {
  EXPECT_EQ(Decimal::parse("18446744073709551615")->digits, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(Decimal::parse("18446744073709551616"));
  EXPECT_EQ(Decimal::parse("0.000000000000000001")->scale, 18);
  EXPECT_FALSE(Decimal::parse("0.0000000000000000001"));
}

TEST(Decimal, TimesAUnitIsExact) {
  EXPECT_EQ(times(*Decimal::parse("1.5"), 1000), 1500);
  // 0.1 and 0.3 have no double.
  EXPECT_EQ(times(*Decimal::parse("0.1"), 1'000'000'000'000), 100'000'000'000);
  EXPECT_EQ(times(*Decimal::parse("0.3"), 1'000'000'000'000), 300'000'000'000);
  EXPECT_EQ(times(*Decimal::parse("9007199.254740993"), 1'000'000'000), 9'007'199'254'740'993);  // 2^53 + 1
}

TEST(Decimal, TimesAUnitRoundsHalvesUp) {
  EXPECT_EQ(times(*Decimal::parse("0.0004"), 1000), 0);
  EXPECT_EQ(times(*Decimal::parse("0.0005"), 1000), 1);
  EXPECT_EQ(times(*Decimal::parse("1.4999"), 1000), 1500);
  EXPECT_EQ(times(*Decimal::parse("1.49949"), 1000), 1499);
}

TEST(Decimal, TimesAUnitNoticesWhenItDoesNotFit) {
  EXPECT_EQ(times(*Decimal::parse("9223372036854775807"), 1), kMost);
  EXPECT_FALSE(times(*Decimal::parse("9223372036854775808"), 1));
  EXPECT_FALSE(times(*Decimal::parse("18446744073709551615"), kMost));
  EXPECT_EQ(times(*Decimal::parse("9223372.036854775807"), 1'000'000'000'000), kMost);
  EXPECT_FALSE(times(*Decimal::parse("9223372.036854775808"), 1'000'000'000'000));
}

TEST(Decimal, QuotientIsADecimalOrNothing) {
  EXPECT_EQ(quotient(1500, 1000, 18)->digits, 15u);
  EXPECT_EQ(quotient(1500, 1000, 18)->scale, 1);
  EXPECT_EQ(quotient(9472, 1024, 18)->digits, 925u);
  EXPECT_FALSE(quotient(1, 3, 18));
  EXPECT_FALSE(quotient(1, 1024, 9));  // ten digits
  EXPECT_EQ(quotient(kMost, 1, 18)->digits, static_cast<std::uint64_t>(kMost));
}

}  // namespace
}  // namespace railyard::spec
