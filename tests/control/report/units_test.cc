#include "control/report/units.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

TEST(Units, ThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(rate_text(0), "0 b/s");
  EXPECT_EQ(rate_text(97.94e9), "97.9 Gb/s");
  EXPECT_EQ(rate_text(400e9), "400 Gb/s");
  EXPECT_EQ(rate_text(1.234e12), "1.23 Tb/s");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1208), "1.21 KB");
  EXPECT_EQ(size_text(32ull << 20), "33.6 MB");
  EXPECT_EQ(time_text(Duration{840}), "840 ps");
  EXPECT_EQ(time_text(Duration{335'000'000}), "335 us");
  EXPECT_EQ(nanoseconds_text(1'500'000'000), "1.50 s");
}

TEST(Units, WhatWouldRoundToAThousandTakesTheNextUnit) {
  EXPECT_EQ(size_text(999'499), "999 KB");
  EXPECT_EQ(size_text(999'600), "1.00 MB");
  EXPECT_EQ(time_text(Duration{999'999}), "1.00 us");
}

TEST(Units, TheLargestUnitTakesWhatIsLeft) {
  EXPECT_EQ(nanoseconds_text(5'000'000'000'000), "5000 s");
  EXPECT_EQ(rate_text(12'345e12), "12345 Tb/s");
}

TEST(Units, CountsHaveCommas) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(12'345'678'901), "12,345,678,901");
}

TEST(Units, Percent) {
  EXPECT_EQ(percent_text(0), "0.0 %");
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
  EXPECT_EQ(percent_text(1), "100.0 %");
}

}  // namespace
}  // namespace railyard::report
