#include "control/probes/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::probes {
namespace {

using testing::HasSubstr;

History of_two_pairs(std::size_t kept) { return History({{{"h1", 1}, {"h2", 1}}, {{"h2", 1}, {"h1", 1}}}, kept, 0.1); }

Round round(double first, double second) { return {.samples = {{.bps = first}, {.bps = second}}}; }

TEST(History, APairIsSlowMoreThanTenPercentBelowItsMedian) {
  History h = of_two_pairs(10);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(h.add(round(100e9, 50e9)).empty()) << "there is no history yet";
  EXPECT_TRUE(h.add(round(91e9, 50e9)).empty());
  const std::vector<Slow>& slow = h.add(round(89e9, 50e9));
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0].pair, 0u);
  EXPECT_EQ(h.text(slow[0]), "h1:1 -> h2:1: 89 Gb/s, 11.0 % below its median of 100 Gb/s");
  EXPECT_EQ(h.slow_rounds(), (std::vector<std::uint32_t>{1, 0}));
}

TEST(History, TheRoundItselfIsNotInTheMedianThatItIsHeldAgainst) {
  History h = of_two_pairs(4);
  for (int i = 0; i < 4; ++i) h.add(round(100e9, 100e9));
  EXPECT_EQ(h.add(round(10e9, 100e9)).size(), 1u);
  EXPECT_EQ(h.rounds().size(), 4u);
  EXPECT_EQ(h.count(), 5u);
}

TEST(History, WhatDoesNotArriveIsSlowAndTheSlowestComesFirst) {
  History h = of_two_pairs(10);
  for (int i = 0; i < 3; ++i) h.add(round(100e9, 100e9));
  Round bad = round(80e9, 0);
  bad.samples[1].bps.reset();
  const std::vector<Slow>& slow = h.add(std::move(bad));
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0].pair, 1u);
  EXPECT_THAT(h.text(slow[0]), HasSubstr("no probe arrived, 100.0 % below"));
}

TEST(History, APairThatWasNotMeasuredIsNotSlowAndNotInTheJson) {
  History h = of_two_pairs(10);
  for (int i = 0; i < 3; ++i) h.add(round(100e9, 100e9));
  Round part = round(100e9, 0);
  part.samples[1].measured = false;
  EXPECT_TRUE(h.add(std::move(part)).empty());
  EXPECT_EQ(json_of(h, h.rounds().back())["pairs"].size(), 1u);
}

// A fabric that has become slow for good is slow until its history says so.
TEST(History, ALastingChangeBecomesTheMedian) {
  History h = of_two_pairs(5);
  for (int i = 0; i < 5; ++i) h.add(round(100e9, 100e9));
  int slow = 0;
  for (int i = 0; i < 10; ++i) slow += !h.add(round(50e9, 100e9)).empty();
  EXPECT_EQ(slow, 3);
}

}  // namespace
}  // namespace railyard::probes
