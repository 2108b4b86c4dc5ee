#include "dataplane/base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
// Values are told apart to this many units, or to a 64th of themselves where that is more.
constexpr std::uint64_t kUnit = std::uint64_t{1} << Histogram::kUnitBits;
constexpr double kFractions[] = {0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};

Histogram histogram_of(const std::vector<std::uint64_t>& values) {
  Histogram h;
  for (const std::uint64_t v : values) h.record(v);
  return h;
}

void expect_same(const Histogram& a, const Histogram& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.min(), b.min());
  EXPECT_EQ(a.max(), b.max());
  EXPECT_EQ(a.mean(), b.mean());
  for (const double f : kFractions) EXPECT_EQ(a.percentile(f), b.percentile(f)) << f;
}

// A uniform fraction in (0, 1].
double fraction(RngStream& rng) { return (static_cast<double>(rng.next32()) + 1) / 4294967296.0; }

struct Distribution {
  std::string_view name;
  std::function<std::uint64_t(RngStream&)> draw;
};

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> kAll = {
      {"all the same", [](RngStream&) { return std::uint64_t{1'234'567}; }},
      {"small", [](RngStream& rng) { return rng.below(1000); }},
      {"uniform", [](RngStream& rng) { return rng.below(10'000'000); }},
      {"exponential", [](RngStream& rng) { return static_cast<std::uint64_t>(-std::log(fraction(rng)) * 2e6); }},
      {"two modes", [](RngStream& rng) { return (rng.below(100) < 97 ? 1'000'000 : 900'000'000) + rng.below(50'000); }},
      {"heavy tail", [](RngStream& rng) { return static_cast<std::uint64_t>(500'000 / std::pow(fraction(rng), 1.5)); }},
      {"every magnitude", [](RngStream& rng) { return rng.next() >> rng.below(64); }},
  };
  return kAll;
}

TEST(Histogram, CountsUpToAValue) {
  const Histogram h = histogram_of({1000, 2000, 1'000'000, 50'000'000});
  EXPECT_EQ(h.count_up_to(0), 0u);
  EXPECT_EQ(h.count_up_to(500), 0u);
  EXPECT_EQ(h.count_up_to(1500), 1u);
  EXPECT_EQ(h.count_up_to(10'000), 2u);
  EXPECT_EQ(h.count_up_to(49'000'000), 3u);
  EXPECT_EQ(h.count_up_to(kLargest), 4u);
  EXPECT_EQ(h.sum(), 51'003'000.0);
  EXPECT_EQ(Histogram().count_up_to(kLargest), 0u);
}

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.min(), 0u);
  EXPECT_EQ(h.max(), 0u);
  EXPECT_EQ(h.mean(), 0.0);
  EXPECT_EQ(h.percentile(0.99), 0u);
}

TEST(Histogram, OneValueIsEveryPercentile) {
  for (const std::uint64_t v :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{255}, std::uint64_t{840'000}, kLargest}) {
    const Histogram h = histogram_of({v});
    EXPECT_EQ(h.min(), v);
    EXPECT_EQ(h.max(), v);
    for (const double f : kFractions) EXPECT_EQ(h.percentile(f), v);
  }
}

TEST(Histogram, HoldsTheSmallestAndTheLargestValue) {
  const Histogram h = histogram_of({0, kLargest});
  EXPECT_EQ(h.count(), 2u);
  EXPECT_EQ(h.min(), 0u);
  EXPECT_EQ(h.max(), kLargest);
  EXPECT_LT(h.percentile(0.5), kUnit);
  EXPECT_EQ(h.percentile(1), kLargest);
  EXPECT_EQ(h.mean(), std::ldexp(1.0, 63));
}

TEST(Histogram, CountExtremesAndMeanAreExact) {
  for (const Distribution& d : distributions()) {
    SCOPED_TRACE(d.name);
    RngStream rng(Seed{1}, d.name);
    Histogram h;
    std::uint64_t smallest = kLargest;
    std::uint64_t largest = 0;
    UInt128 sum = 0;
    for (std::uint64_t n = 1; n <= 5000; ++n) {
      const std::uint64_t v = d.draw(rng);
      h.record(v);
      smallest = std::min(smallest, v);
      largest = std::max(largest, v);
      sum += v;
      ASSERT_EQ(h.count(), n);
      ASSERT_EQ(h.min(), smallest);
      ASSERT_EQ(h.max(), largest);
      ASSERT_EQ(h.mean(), static_cast<double>(sum) / static_cast<double>(n));
    }
  }
}

// A floating-point sum would stay at 2^53, whose next neighbour is 2^53 + 2.
TEST(Histogram, TheSumForgetsNoSmallValueAfterALargeOne) {
  Histogram h;
  h.record(std::uint64_t{1} << 53);
  for (int i = 0; i < 7; ++i) h.record(1);
  EXPECT_EQ(h.mean(), static_cast<double>((std::uint64_t{1} << 50) + 1));
}

TEST(Histogram, PercentilesAreTheNearestRankToWithinASixtyFourth) {
  for (const Distribution& d : distributions()) {
    for (const std::size_t n : {1u, 2u, 10u, 1000u, 30'001u}) {
      SCOPED_TRACE(std::string(d.name) + ", " + std::to_string(n) + " values");
      RngStream rng(Seed{2}, d.name);
      std::vector<std::uint64_t> values(n);
      for (std::uint64_t& v : values) v = d.draw(rng);
      const Histogram h = histogram_of(values);
      std::ranges::sort(values);
      for (const double f : kFractions) {
        std::size_t rank = 0;  // of the first value that `f` of all are not above, from 0
        while (static_cast<double>(rank + 1) < f * static_cast<double>(n)) ++rank;
        const std::uint64_t exact = values[rank];
        ASSERT_GE(h.percentile(f), exact) << f;
        ASSERT_LE(h.percentile(f) - exact, std::max(kUnit - 1, exact / 64)) << f;
      }
    }
  }
}

TEST(Histogram, EveryPowerOfTwoAndItsNeighboursFallIntoTheRightBucket) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const std::int64_t step : {-1, 0, 1}) {
      const std::uint64_t v = (std::uint64_t{1} << bits) + static_cast<std::uint64_t>(step);
      const Histogram h = histogram_of({v, kLargest});
      ASSERT_GE(h.percentile(0.5), v);
      ASSERT_LE(h.percentile(0.5) - v, std::max(kUnit - 1, v / 64)) << v;
    }
  }
}

TEST(Histogram, AFractionOutsideZeroToOneIsTheNearestOfThem) {
  const Histogram h = histogram_of({1'000'000, 2'000'000, 3'000'000});
  EXPECT_EQ(h.percentile(-1), h.percentile(0));
  EXPECT_EQ(h.percentile(2), h.percentile(1));
}

TEST(Histogram, MergedPartsEqualTheWholeInEitherOrder) {
  for (const Distribution& d : distributions()) {
    SCOPED_TRACE(d.name);
    RngStream rng(Seed{3}, d.name);
    Histogram parts[3];
    Histogram whole;
    for (int i = 0; i < 9000; ++i) {
      const std::uint64_t v = d.draw(rng);
      parts[i % 3].record(v);
      whole.record(v);
    }
    Histogram forward;
    for (const Histogram& part : parts) forward.merge(part);
    Histogram backward;
    for (int i = 2; i >= 0; --i) backward.merge(parts[i]);
    expect_same(forward, whole);
    expect_same(backward, whole);
  }
}

TEST(Histogram, MergingApartRangesKeepsBoth) {
  Histogram fast = histogram_of({1'000, 2'000, 3'000});
  const Histogram slow = histogram_of({7'000'000'000, 8'000'000'000});
  fast.merge(slow);
  expect_same(fast, histogram_of({1'000, 2'000, 3'000, 7'000'000'000, 8'000'000'000}));
}

TEST(Histogram, MergingNothingChangesNothing) {
  Histogram h = histogram_of({5, 500'000});
  h.merge(Histogram());
  expect_same(h, histogram_of({5, 500'000}));
  Histogram empty;
  empty.merge(h);
  expect_same(empty, h);
  Histogram still_empty;
  still_empty.merge(Histogram());
  expect_same(still_empty, Histogram());
}

TEST(Histogram, ACopyLivesOnItsOwn) {
  const std::vector<std::uint64_t> values = {10, 10'000'000, 20'000'000};
  Histogram original = histogram_of(values);
  const Histogram copy = original;
  Histogram assigned = histogram_of({1});
  assigned = original;
  original.record(kLargest);
  expect_same(copy, histogram_of(values));
  expect_same(assigned, histogram_of(values));
  const Histogram moved = std::move(assigned);
  expect_same(moved, histogram_of(values));
}

}  // namespace
}  // namespace railyard
