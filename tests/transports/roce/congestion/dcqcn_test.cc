#include "transports/roce/congestion/dcqcn.h"

#include <array>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"

namespace railyard::roce {
namespace {

using namespace literals;

constexpr double kMega = 1e6;

Instant at(Duration d) { return Instant{} + d; }

// roce-and-lossless.md §8.3, the trace, in Mb/s: K and the increase timer of its own lengths, so that ten of the one
// and six of the other come before the second CNP.
TEST(Dcqcn, TheTraceOfThePaperForm) {
  DcqcnConfig config = DcqcnConfig::paper(40_Gbps);
  config.increase_period = 90_us;
  config.most = 100_Gbps;  // RT is not clamped at the line
  Dcqcn flow(config);
  EXPECT_FALSE(flow.limits());
  EXPECT_EQ(flow.rate({}), 40000 * kMega);

  flow.on_cnp({});
  EXPECT_TRUE(flow.limits());
  EXPECT_EQ(flow.rate({}), 20000 * kMega);
  EXPECT_EQ(flow.target(), 40000 * kMega);
  EXPECT_EQ(flow.alpha(), 1.0);

  constexpr std::array kFastRecovery{30000.0, 35000.0, 37500.0, 38750.0, 39375.0};
  for (std::size_t i = 0; i < kFastRecovery.size(); ++i) {
    const Instant when = at(90_us * static_cast<std::int64_t>(i + 1));
    EXPECT_NE(flow.rate(when - 1_ps), kFastRecovery[i] * kMega);
    EXPECT_EQ(flow.rate(when), kFastRecovery[i] * kMega);
    EXPECT_EQ(flow.target(), 40000 * kMega);
  }
  EXPECT_EQ(flow.rate(at(540_us)), 39707.5 * kMega) << "one additive step";
  EXPECT_EQ(flow.target(), 40040 * kMega);

  EXPECT_EQ(flow.rate(at(550_us)), 39707.5 * kMega);
  EXPECT_NEAR(flow.alpha(), 0.961617, 5e-7) << "ten K periods";

  flow.on_cnp(at(550_us));
  EXPECT_NEAR(flow.rate(at(550_us)) / kMega, 20615.80, 5e-3);
  EXPECT_EQ(flow.target(), 39707.5 * kMega);
  EXPECT_NEAR(flow.alpha(), 0.961767, 5e-7);
}

TEST(Dcqcn, AlphaHalvesIn177PeriodsOfThePaper) {
  Dcqcn flow(DcqcnConfig::paper(40_Gbps));
  flow.on_cnp({});
  flow.rate(at(55_us * 177 - 1_ps));
  EXPECT_GT(flow.alpha(), 0.5);
  flow.rate(at(55_us * 178));
  EXPECT_LT(flow.alpha(), 0.5);
}

TEST(Dcqcn, TheTargetIsClampedAtTheLine) {
  Dcqcn flow(DcqcnConfig::paper(40_Gbps));
  flow.on_cnp({});
  flow.rate(at(55_us * 10));
  EXPECT_EQ(flow.target(), 40000 * kMega);
}

TEST(Dcqcn, BothCountersBeyondFIncreaseHyperactively) {
  DcqcnConfig config = DcqcnConfig::paper(40_Gbps);
  config.most = 100_Gbps;
  Dcqcn flow(config);
  flow.on_cnp({});
  flow.rate(at(55_us * 6));  // T = 6: one additive step
  EXPECT_EQ(flow.target(), 40040 * kMega);
  for (int i = 0; i < 5; ++i) flow.on_sent(at(55_us * 6), 10'000'000);
  EXPECT_EQ(flow.target(), 40240 * kMega) << "BC is not beyond F: five more additive steps";
  flow.on_sent(at(55_us * 6), 9'999'999);
  EXPECT_EQ(flow.target(), 40240 * kMega);
  flow.on_sent(at(55_us * 6), 1);
  EXPECT_EQ(flow.target(), 40640 * kMega) << "i = 1: 400";
  flow.rate(at(55_us * 7));
  EXPECT_EQ(flow.target(), 41040 * kMega) << "min(7, 6) - F = 1";
}

TEST(Dcqcn, TheRateHasAFloor) {
  Dcqcn flow(DcqcnConfig::paper(40_Gbps));
  for (int i = 0; i < 100; ++i) flow.on_cnp({});
  EXPECT_EQ(flow.rate({}), 40 * kMega);
}

// roce-and-lossless.md §8.4: 10-bit alpha by truncation.
TEST(Dcqcn, TheAlphasOfTheNicForm) {
  Dcqcn flow(DcqcnConfig::vendor(100_Gbps));
  flow.on_cnp({});
  EXPECT_EQ(flow.alpha() * 1024, 1023);
  std::int64_t us = 0;
  for (const double alpha : {1018.0, 1013.0, 1008.0, 1003.0, 998.0}) {
    flow.rate(at(1_us * ++us));
    EXPECT_EQ(flow.alpha() * 1024, alpha);
  }
}

TEST(Dcqcn, AlphaOfTheNicFormHalvesIn142PeriodsWhenItIsNotTruncated) {
  DcqcnConfig config = DcqcnConfig::vendor(100_Gbps);
  config.alpha_steps = 0;
  config.initial_alpha = 1;
  Dcqcn flow(config);
  flow.on_cnp({});
  flow.rate(at(141_us));
  EXPECT_GT(flow.alpha(), 0.5);
  flow.rate(at(142_us));
  EXPECT_LT(flow.alpha(), 0.5);
}

TEST(Dcqcn, ANicCutsAtItsNextLookAndNotBefore) {
  Dcqcn flow(DcqcnConfig::vendor(100_Gbps));
  flow.on_cnp({});
  EXPECT_EQ(flow.rate(at(4_us - 1_ps)), 100'000 * kMega);
  const double cut = 100'000 * kMega * (1 - 1003.0 / 1024 / 2);
  EXPECT_EQ(flow.rate(at(4_us)), cut);
  EXPECT_EQ(flow.target(), 100'000 * kMega);
  EXPECT_EQ(flow.rate(at(303_us)), cut);
  EXPECT_EQ(flow.rate(at(304_us)), (cut + 100'000 * kMega) / 2) << "300 us after the cut";
}

// CLAMP_TGT_RATE_AFTER_TIME_INC.
TEST(Dcqcn, ASeriesOfCutsWithoutAnIncreaseKeepsTheTarget) {
  Dcqcn flow(DcqcnConfig::vendor(100_Gbps));
  for (std::int64_t us = 0; us < 40; us += 4) flow.on_cnp(at(1_us * us));
  flow.rate(at(40_us));
  EXPECT_EQ(flow.target(), 100'000 * kMega);
  const double before = flow.rate(at(340_us));
  flow.on_cnp(at(341_us));
  flow.rate(at(344_us));
  EXPECT_EQ(flow.target(), before) << "after an increase it is clamped";
}

// Twenty cuts in half leave the least, 1 Mb/s, at which a packet of 4154 octets takes 33 ms. 300 us after the last cut half
// of the line is back, and the packet goes as soon as both rates have made up for its bits.
TEST(Dcqcn, APacketThatWaitsGoesFasterWhenTheRateRises) {
  DcqcnConfig config = DcqcnConfig::vendor(100_Gbps);
  config.initial_alpha = 1;
  config.alpha_steps = 0;
  config.g = {1, 1'000'000'000};  // all but 1: each cut halves
  Dcqcn flow(config);
  for (std::int64_t us = 0; us < 80; us += 4) flow.on_cnp(at(1_us * us));
  EXPECT_EQ(flow.rate(at(80_us)), 1 * kMega);
  const double bits = 4154 * 8 - 1e6 * 290e-6;  // left at 380 us, of a packet that went at 90 us
  const double back = (1e6 + 100e9) / 2;
  const Instant next = flow.pace(at(90_us), at(90_us), 4154);
  EXPECT_NEAR(static_cast<double>((next - at(380_us)).ps), bits / back * 1e12, 1);
  EXPECT_EQ(flow.pace(at(100_us), at(100_us), 20) - at(100_us), 160_us) << "20 octets at 1 Mb/s";
  EXPECT_EQ(flow.rate(at(380_us - 1_ps)), 1 * kMega) << "looking ahead changes nothing";
}

// A CNP that is noted cuts before the packet goes.
TEST(Dcqcn, APacketThatWaitsGoesSlowerWhenTheRateFalls) {
  DcqcnConfig config = DcqcnConfig::vendor(100_Gbps);
  config.initial_alpha = 1;
  config.alpha_steps = 0;
  config.g = {1, 1'000'000'000};
  Dcqcn flow(config);
  flow.on_cnp({});
  // Of 600,000 bits 400,000 at 100 Gb/s, until 4 us, and the rest at 50.
  const Instant next = flow.pace({}, {}, 75'000);
  EXPECT_NEAR(static_cast<double>((next - at(4_us)).ps), (600'000 - 400'000) / 50e9 * 1e12, 2);
}

TEST(Dcqcn, OneCutTakesHalfAtMost) {
  DcqcnConfig config = DcqcnConfig::vendor(100_Gbps);
  config.initial_alpha = 2;  // would cut all of it
  config.alpha_steps = 0;
  Dcqcn flow(config);
  flow.on_cnp({});
  EXPECT_EQ(flow.rate(at(4_us)), 50'000 * kMega);
}

TEST(Dcqcn, ItDoesNotMatterWhenItIsAsked) {
  for (const DcqcnConfig& config : {DcqcnConfig::paper(100_Gbps), DcqcnConfig::vendor(100_Gbps)}) {
    Dcqcn often(config), seldom(config);
    for (std::int64_t us = 0; us < 5000; ++us) {
      if (us % 777 == 0) {
        often.on_cnp(at(1_us * us));
        seldom.on_cnp(at(1_us * us));
      }
      often.rate(at(1_us * us));
    }
    EXPECT_EQ(often.rate(at(5_ms)), seldom.rate(at(5_ms)));
    EXPECT_EQ(often.alpha(), seldom.alpha());
  }
}

TEST(Dcqcn, AFlowThatIsBackForLongIsLimitedNoMore) {
  Dcqcn flow(DcqcnConfig::vendor(10_Gbps));
  flow.on_cnp({});
  flow.rate(at(1_s));
  EXPECT_FALSE(flow.limits());
  EXPECT_EQ(flow.rate(at(1_s)), 10'000 * kMega);
}

}  // namespace
}  // namespace railyard::roce
