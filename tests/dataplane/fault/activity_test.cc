#include "dataplane/fault/activity.h"

#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

std::vector<Interval> all(Activity a, std::size_t most = 100) {
  std::vector<Interval> out;
  while (out.size() < most)
    if (const auto i = a.next())
      out.push_back(*i);
    else
      break;
  return out;
}

Interval between(Duration begin, Duration end) { return {Instant{} + begin, Instant{} + end}; }

TEST(Activity, OnceAndForEver) {
  EXPECT_EQ(all(Activity({.first = Instant{5}}, {})), (std::vector<Interval>{{Instant{5}, Instant::never()}}));
}

TEST(Activity, OnceForAWhile) {
  EXPECT_EQ(all(Activity({.first = Instant{} + 1_us, .lasts = 2_us}, {})), (std::vector{between(1_us, 3_us)}));
}

TEST(Activity, SoManyTimes) {
  EXPECT_EQ(all(Activity({.first = Instant{} + 1_us, .every = 10_us, .lasts = 2_us, .count = 3}, {})),
            (std::vector{between(1_us, 3_us), between(11_us, 13_us), between(21_us, 23_us)}));
}

TEST(Activity, OccurrencesDoNotOverlap) {
  EXPECT_EQ(all(Activity({.every = 10_us, .lasts = 25_us, .count = 2}, {})),
            (std::vector{between(0_us, 10_us), between(10_us, 20_us)}));
}

TEST(Activity, WithoutACountItGoesOn) {
  const auto some = all(Activity({.every = 1_us, .lasts = 1_ns}, {}), 50);
  ASSERT_EQ(some.size(), 50u);
  EXPECT_EQ(some[49], between(49_us, 49_us + 1_ns));
}

TEST(Activity, EndsWhereTimeDoes) {
  const Duration century{Instant::never().ps / 2};
  EXPECT_EQ(all(Activity({.first = Instant{10}, .every = century, .lasts = 1_us}, {})).size(), 2u);
}

TEST(Activity, ChanceLeavesSomeOut) {
  const RngStream rng(Seed{3}, "fault/x/when");
  const ActivityConfig config{.every = 1_us, .lasts = 1_ns, .count = 10'000, .chance = Chance::of(1, 4)};
  const auto some = all(Activity(config, rng), 10'000);
  EXPECT_NEAR(static_cast<double>(some.size()), 2500, 5 * 43.3);  // five standard deviations
  EXPECT_EQ(all(Activity(config, rng), 10'000), some);
  EXPECT_NE(all(Activity(config, RngStream(Seed{4}, "fault/x/when")), 10'000), some);
  EXPECT_TRUE(all(Activity({.every = 1_us, .lasts = 1_ns, .chance = {}}, rng)).empty());
}

TEST(Activity, WhatIsListedAndWhatIsAdded) {
  Activity a({.listed = std::vector{between(1_us, 2_us)}}, {});
  EXPECT_EQ(a.next(), between(1_us, 2_us));
  EXPECT_EQ(a.next(), std::nullopt);
  a.add(between(5_us, 6_us));
  EXPECT_EQ(a.next(), between(5_us, 6_us));
  EXPECT_EQ(a.next(), std::nullopt);
}

}  // namespace
}  // namespace railyard
