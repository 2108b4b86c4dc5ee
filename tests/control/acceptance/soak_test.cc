#include "control/acceptance/soak.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::acceptance {
namespace {

using testing::HasSubstr;

Soak soak(std::size_t samples, double bytes_per_second, double noise = 0) {
  Soak s{.lab = "d", .transport = "RoCEv2", .live = true, .interval_seconds = 10};
  for (std::size_t i = 0; i < samples; ++i)
    s.samples[i] = {.seconds = 10.0 * static_cast<double>(i + 1),
                    .packets = 100,
                    .pid = 7,
                    .rss_bytes = 1e8 + bytes_per_second * 10 * static_cast<double>(i) + (i % 2 == 0 ? noise : -noise)};
  return s;
}

TEST(SoakGrowth, OfALineIsItsSlopeWithoutAMargin) {
  const auto g = growth(soak(20, 100));
  ASSERT_TRUE(g);
  EXPECT_NEAR(g->bytes_per_hour, 360'000, 1);
  EXPECT_NEAR(g->margin, 0, 1);
  EXPECT_TRUE(g->is_certain());
}

// Noise as large as a thousand intervals of growth: nothing can be said of twenty of them.
TEST(SoakGrowth, OfNoiseIsNotCertain) {
  const auto g = growth(soak(20, 1, 1e6));
  ASSERT_TRUE(g);
  EXPECT_FALSE(g->is_certain());
  EXPECT_LT(g->bytes_per_hour - g->margin, 3600);
  EXPECT_GT(g->bytes_per_hour + g->margin, 3600) << "the true slope is within the interval";
}

TEST(SoakGrowth, IsThatOfTheLastDaemon) {
  Soak s = soak(20, 100);
  for (std::size_t i = 0; i < 10; ++i) s.samples[i].pid = 6;
  EXPECT_EQ(growth(s)->points, 10u);
  for (std::size_t i = 0; i < 17; ++i) s.samples[i].pid = 6;
  EXPECT_FALSE(growth(s)) << "three points are no trend";
}

// Interrupted after eight intervals, resumed: the same figures as without.
TEST(Soak, ACheckpointHoldsAllThatTheFiguresAreMadeOf) {
  const Soak whole = soak(20, 100, 1e5);
  Soak part = whole;
  part.samples.erase(part.samples.find(8), part.samples.end());
  Soak resumed = from_checkpoint(checkpoint(part).dump());
  EXPECT_EQ(why_not_resumed(resumed, Soak{.lab = "d", .transport = "RoCEv2", .live = true, .interval_seconds = 10}),
            "");
  for (std::size_t i = 8; i < 20; ++i) resumed.samples[i] = whole.samples.at(i);
  EXPECT_EQ(checkpoint(resumed), checkpoint(whole));
  EXPECT_EQ(growth(resumed)->bytes_per_hour, growth(whole)->bytes_per_hour);
  EXPECT_EQ(sums(resumed).packets, 2000u);
}

TEST(Soak, OfAnotherLabDoesNotGoOn) {
  const Soak saved = soak(3, 0);
  const auto why = [&](Soak asked) { return why_not_resumed(saved, asked); };
  EXPECT_THAT(why({.lab = "e", .transport = "RoCEv2", .live = true, .interval_seconds = 10}), HasSubstr("another lab"));
  EXPECT_THAT(why({.lab = "d", .transport = "UET", .live = true, .interval_seconds = 10}), HasSubstr("over RoCEv2"));
  EXPECT_THAT(why({.lab = "d", .transport = "RoCEv2", .live = false, .interval_seconds = 10}), HasSubstr("a live lab"));
  EXPECT_THAT(why({.lab = "d", .transport = "RoCEv2", .live = true, .interval_seconds = 5}),
              HasSubstr("--interval is 5 s"));
}

TEST(Soak, WhatIsNoCheckpointIsRefused) {
  EXPECT_THROW(from_checkpoint("nonsense"), std::invalid_argument);
  EXPECT_THROW(from_checkpoint("{}"), std::invalid_argument);
  EXPECT_THROW(from_checkpoint(R"({"schema": "railyard-soak/1", "lab": 3})"), std::invalid_argument);
}

}  // namespace
}  // namespace railyard::acceptance
