#include "dataplane/fault/chance.h"

#include <cmath>

#include <gtest/gtest.h>

namespace railyard {
namespace {

constexpr int kDraws = 200'000;

template <class Draw>
double share(Draw&& draw) {
  int n = 0;
  for (int i = 0; i < kDraws; ++i) n += draw();
  return static_cast<double>(n) / kDraws;
}

// Five standard deviations of a share of kDraws draws.
double five_sigma(double p) { return 5 * std::sqrt(p * (1 - p) / kDraws); }

TEST(Chance, HappensAsOftenAsItSays) {
  RngStream rng(Seed{1}, "t");
  for (const double p : {0.001, 0.3, 0.999}) {
    const Chance c = Chance::of(static_cast<std::int64_t>(p * 1000), 1000);
    EXPECT_NEAR(share([&] { return c.happens(rng); }), p, five_sigma(p));
  }
}

TEST(Chance, NeverAndAlwaysDrawNothing) {
  RngStream rng(Seed{1}, "t");
  EXPECT_FALSE(Chance().happens(rng));
  EXPECT_FALSE(Chance::of(0, 7).happens(rng));
  EXPECT_TRUE(Chance::always().happens(rng));
  EXPECT_TRUE(Chance::of(7, 7).happens(rng));
  EXPECT_EQ(rng.next(), RngStream(Seed{1}, "t").next());
}

// In the long run a share p / (p + r) of frames meets the bad state; bursts there are 1 / r frames long.
TEST(GilbertElliott, LosesInBurstsOfTheLengthAndAtTheRateOfItsParameters) {
  const GilbertElliott chain{Chance::of(1, 100), Chance::of(1, 5), {}, Chance::always()};
  RngStream rng(Seed{1}, "t");
  bool bad = false;
  int losses = 0, bursts = 0;
  bool before = false;
  for (int i = 0; i < kDraws; ++i) {
    const bool lost = chain.loses(bad, rng);
    losses += lost;
    bursts += lost && !before;
    before = lost;
  }
  const double p = 0.01, r = 0.2;
  // The chain forgets with 1 - p - r per step: the variance of the share is that of independent draws times
  // (2 - p - r) / (p + r).
  const double rate = p / (p + r);
  EXPECT_NEAR(static_cast<double>(losses) / kDraws, rate, five_sigma(rate) * std::sqrt((2 - p - r) / (p + r)));
  EXPECT_NEAR(static_cast<double>(losses) / bursts, 1 / r, 0.5);
}

TEST(BitErrors, AFrameIsHitWithOneMinusTheChanceThatNoBitIs) {
  for (const auto& [numerator, denominator] : {std::pair{1LL, 1'000'000LL}, {1LL, 1'000'000'000'000LL}, {3LL, 7LL}}) {
    const BitErrors errors(numerator, denominator);
    const long double b = static_cast<long double>(numerator) / static_cast<long double>(denominator);
    for (const std::uint32_t octets : {64u, 1500u, 4178u, 9234u}) {
      const long double expected = std::exp(static_cast<long double>(8 * octets) * std::log1p(-b));
      const long double got = static_cast<long double>(errors.intact(octets)) / 18446744073709551616.0L;
      EXPECT_NEAR(static_cast<double>(got), static_cast<double>(expected), 1e-14) << octets;
    }
  }
  RngStream rng(Seed{1}, "t");
  const BitErrors errors(1, 100'000);
  const double p = 1 - std::pow(1 - 1e-5, 8 * 1500);
  EXPECT_NEAR(share([&] { return errors.hit(1500, rng); }), p, five_sigma(p));
}

TEST(BitErrors, AllBitsWrongHitsEveryFrame) {
  RngStream rng(Seed{1}, "t");
  const BitErrors errors(1, 1);
  EXPECT_TRUE(errors.hit(64, rng));
  EXPECT_EQ(errors.intact(64), 0u);
}

}  // namespace
}  // namespace railyard
