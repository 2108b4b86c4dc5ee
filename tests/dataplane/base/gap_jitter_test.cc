// Jitter of paced frames: it moves them within their gaps and keeps the rate.
#include "dataplane/base/gap_jitter.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

constexpr Duration kInterval{100'000};

GapJitter jitter_at(BitRate rate, BitRate link) {
  return PacingConfig{.jitter = GapJitter::kWhole, .link = link, .seed = Seed{1}}.jitter_of(1, rate);
}

TEST(GapJitter, WithoutItFramesGoInTheirTurn) {
  GapJitter none = PacingConfig{}.jitter_of(1, 10_Gbps);
  EXPECT_FALSE(none.on());
  EXPECT_EQ(none.draw(kInterval), Duration{});
  EXPECT_EQ(none.next(Instant{500'000}, Instant{500'000}, kInterval), Instant{600'000});
  EXPECT_EQ(none.next(Instant{550'000}, Instant{500'000}, kInterval), Instant{600'000}) << "made up for";
  EXPECT_EQ(none.next(Instant{900'000}, Instant{500'000}, kInterval), Instant{900'000}) << "one interval at most";
}

// Frame k goes in the k-th gap, whatever the ones before did.
TEST(GapJitter, MovesFramesWithinTheirGaps) {
  GapJitter gaps = jitter_at(10_Gbps, 100_Gbps);
  Instant at{};
  double sum = 0;
  constexpr int kFrames = 4000;
  for (int k = 1; k <= kFrames; ++k) {
    at = gaps.next(at, at, kInterval);
    const double into = static_cast<double>((at - Instant{k * kInterval.ps}).ps) / static_cast<double>(kInterval.ps);
    ASSERT_GE(into, 0.0) << k;
    ASSERT_LT(into, 1.0) << k;
    sum += into;
  }
  EXPECT_NEAR(sum / kFrames, 0.5, 0.02) << "uniform";
}

// Messages of two and a half packets: a short packet that is late by more than it takes costs nothing.
TEST(GapJitter, KeepsTheRateOfUnequalFrames) {
  GapJitter gaps = jitter_at(10_Gbps, 100_Gbps);
  Instant at{};
  for (int k = 0; k < 3000; ++k) at = gaps.next(at, at, k % 3 == 2 ? kInterval / 2 : kInterval);
  EXPECT_GE(at, Instant{2500 * kInterval.ps});
  EXPECT_LT(at, Instant{2501 * kInterval.ps});
}

// At 95 % of the link a frame catches up by a nineteenth of its time per frame: one in 19 has a jitter of its own. Up to
// half of the link each has; at the whole there are no gaps.
TEST(GapJitter, LastsForAsLongAsAFastFlowTakesToCatchUp) {
  const auto changes = [](BitRate rate) {
    GapJitter gaps = jitter_at(rate, 100_Gbps);
    int n = 0;
    for (int k = 0; k < 19'000; ++k) {
      const Duration before = gaps.last();
      n += gaps.draw(kInterval) != before ? 1 : 0;
    }
    return n;
  };
  EXPECT_NEAR(changes(95_Gbps), 1000, 100);
  EXPECT_NEAR(changes(80_Gbps), 19'000 / 4, 200);
  EXPECT_EQ(changes(50_Gbps), 19'000);
  EXPECT_EQ(changes(10_Gbps), 19'000);
  EXPECT_EQ(changes(100_Gbps), 0);
}

TEST(GapJitter, FlowsOfANicDrawApart) {
  const PacingConfig pacing{.jitter = GapJitter::kWhole, .link = 100_Gbps, .seed = Seed{1}};
  GapJitter a = pacing.jitter_of(1, 10_Gbps);
  GapJitter b = pacing.jitter_of(2, 10_Gbps);
  EXPECT_NE(a.draw(kInterval), b.draw(kInterval));
}

TEST(GapJitter, ASlowerClockMakesGapsLonger) {
  EXPECT_EQ(PacingConfig{.slower_ppb = 200'000}.slowed(Duration{1'000'000}), Duration{1'000'200});
  EXPECT_EQ(PacingConfig{}.slowed(Duration{1'000'000}), Duration{1'000'000});
}

}  // namespace
}  // namespace railyard
