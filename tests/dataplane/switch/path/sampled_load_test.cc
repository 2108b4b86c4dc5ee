#include "dataplane/switch/path/sampled_load.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

constexpr PortIndex kPort{0};

// One port, whose cells take 1 ns each: its drain time in ns is the average in cells.
struct SampledPort {
  explicit SampledPort(LoadSampling sampling) : sampled(sampling, 1) { loads[0].cell_time_ns8 = 256; }

  // All that is due until `now`; then the load is another.
  void at(Duration now, std::uint32_t cells, std::uint64_t leave = 0) {
    if (Instant{} + now >= sampled.due()) sampled.sample(Instant{} + now, loads, left);
    loads[0].cells = cells;
    left[0] += leave;
  }
  double average(Duration now) {
    at(now, loads[0].cells);
    return static_cast<double>(sampled.drain(kPort, loads[0])) / 256;
  }

  SampledLoad sampled;
  std::vector<PortLoad> loads{1};
  std::vector<std::uint64_t> left{0};
};

// The response to a step: x (1 - (1 - w)^k) after k samples.
TEST(SampledLoad, AfterAStepItIsTheClosedFormOfTheAverage) {
  for (const int shift : {0, 1, 3, 8}) {
    SampledPort port({.every = 1_us, .shift = static_cast<std::uint8_t>(shift)});
    port.at(500_ns, 0);
    port.at(500_ns, 1000);
    const double w = std::ldexp(1.0, -shift);
    for (const int k : {0, 1, 2, 3, 10, 50, 1000})
      EXPECT_NEAR(port.average(500_ns + 1_us * k), 1000 * (1 - std::pow(1 - w, k)), 0.01) << k << " samples of " << w;
  }
}

TEST(SampledLoad, WhenTheQueueIsGoneItDecaysToNothing) {
  SampledPort port({.every = 1_us, .shift = 3});
  port.at(100_ns, 0);
  port.at(100_ns, 800);
  ASSERT_NEAR(port.average(1_ms), 800, 0.01);
  port.at(1_ms, 0);
  for (const int k : {1, 5, 20}) EXPECT_NEAR(port.average(1_ms + 1_us * k), 800 * std::pow(7.0 / 8, k), 0.01);
  EXPECT_EQ(port.average(2_ms), 0.0);
}

// The sample of an instant is taken ahead of what happens then.
TEST(SampledLoad, AnInstantsSampleIsWhatWasBeforeIt) {
  SampledPort port({.every = 1_us, .shift = 0});
  port.at(10_ns, 0);
  port.at(1_us, 100);
  EXPECT_EQ(port.average(1_us), 0.0);
  EXPECT_EQ(port.average(1'999_ns), 0.0);
  EXPECT_EQ(port.average(2_us), 100.0);
}

// Between two samples there is nothing to see, however much there was.
TEST(SampledLoad, WhatComesAndGoesBetweenSamplesCountsOnlyAsWhatHasLeft) {
  SampledPort port({.every = 1_us, .shift = 0});
  port.at(10_ns, 0);
  port.at(1'100_ns, 300);
  port.at(1'900_ns, 0, 300);
  EXPECT_EQ(port.average(2_us), 300.0) << "all that the link had to do in the interval";
  EXPECT_EQ(port.average(3_us), 0.0);
}

// A link that is busy all the time and has no queue: 1000 cells of 1 ns in each microsecond.
TEST(SampledLoad, ABusyLinkWithoutAQueueIsWorthOneInterval) {
  SampledPort port({.every = 1_us, .shift = 3});
  port.at(0_ns, 0);
  for (int i = 1; i <= 200; ++i) port.at(1_us * i - 1_ns, 0, 1000);
  EXPECT_NEAR(port.average(200_us), 1000, 0.01);
}

// Whoever asks in between, and whenever.
TEST(SampledLoad, ItDoesNotMatterHowOftenItIsAsked) {
  SampledPort often({.every = 1_us, .shift = 3});
  SampledPort seldom({.every = 1_us, .shift = 3});
  for (int i = 0; i < 300; ++i) {
    const auto cells = static_cast<std::uint32_t>(i * 7919 % 1000);
    for (SampledPort* p : {&often, &seldom}) p->at(7'300_ns * i, cells, 40);
    for (int j = 0; j < 30; ++j) often.average(7'300_ns * i + 240_ns * j);
  }
  EXPECT_EQ(often.average(3_ms), seldom.average(3_ms));
}

// Sampling that begins while there is a queue begins with that.
TEST(SampledLoad, ItBeginsWithWhatIsThere) {
  SampledPort port({.every = 1_us, .shift = 8});
  port.loads[0].cells = 500;
  EXPECT_EQ(port.average(123'456_ns), 500.0);
  EXPECT_EQ(port.average(200_us), 500.0);
}

// A second without an event is a million samples, and deep buffers have millions of cells.
TEST(SampledLoad, LongSilencesAndDeepBuffersDoNotOverflow) {
  SampledPort port({.every = 100_ns, .shift = 8});
  port.at(0_ns, 0);
  port.at(0_ns, 1u << 26);
  EXPECT_NEAR(port.average(10_s), std::ldexp(1.0, 26), 0.01);
  port.at(10_s, 0);
  EXPECT_EQ(port.average(20_s), 0.0);
}

}  // namespace
}  // namespace railyard
