#include "control/machine/gaps.h"

#include <cstddef>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"

namespace railyard::machine {
namespace {

using namespace literals;

// A clock that goes on by 1 us a look, and by `gap` each `every`th.
struct Interrupted {
  std::size_t every;
  Duration gap;
  std::size_t looks = 0;
  Duration at{};

  Duration operator()() { return at += ++looks % every == 0 ? gap : 1_us; }
};

TEST(Gaps, OfAnUndisturbedThreadThereAreNone) {
  const Gaps g = measure_gaps(100_ms, Interrupted{10, 20_us});
  EXPECT_EQ(g.count, 0u);
  EXPECT_EQ(g.in_long_gaps, 0);
  EXPECT_GE(g.measured, 100_ms);
}

// 999 us of work, then 1001 us away: half of the time.
TEST(Gaps, LongOnesAreAPartOfTheTime) {
  const Gaps g = measure_gaps(1_s, Interrupted{1000, 1001_us});
  EXPECT_EQ(g.count, 500u);
  EXPECT_EQ(g.max, 1001_us);
  EXPECT_EQ(g.p99, 1001_us);
  EXPECT_NEAR(g.in_long_gaps, 0.5, 0.01);
}

TEST(Gaps, ThoseOf50To100UsCountAndCostNothing) {
  const Gaps g = measure_gaps(100_ms, Interrupted{1000, 80_us});
  EXPECT_GT(g.count, 80u);
  EXPECT_EQ(g.max, 80_us);
  EXPECT_EQ(g.in_long_gaps, 0);
}

}  // namespace
}  // namespace railyard::machine
