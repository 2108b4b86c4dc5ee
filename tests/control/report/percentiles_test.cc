#include "control/report/percentiles.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

TEST(Percentiles, SpreadIsByNearestRank) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Spread s = Spread::of(values);
  EXPECT_EQ(s.count, 100u);
  EXPECT_EQ(s.mean, 50.5);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.p50, 50);
  EXPECT_EQ(s.p95, 95);
  EXPECT_EQ(s.p99, 99);
  EXPECT_EQ(s.max, 100);
  EXPECT_EQ(Spread::of({7}).p99, 7);
  EXPECT_EQ(Spread::of({}).count, 0u);
}

// The unit tests that benchmark-methodology §5 names.
TEST(Percentiles, JainAndMaxOverMean) {
  EXPECT_DOUBLE_EQ(jain_index({4, 4, 4, 4}), 1);
  EXPECT_NEAR(jain_index({8, 4, 4, 0}), 0.667, 5e-4);
  EXPECT_DOUBLE_EQ(jain_index({16, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(max_over_mean({4, 4, 4, 4}), 1);
  EXPECT_DOUBLE_EQ(max_over_mean({8, 4, 4, 0}), 2);
  EXPECT_DOUBLE_EQ(max_over_mean({16, 0, 0, 0}), 4);
  EXPECT_EQ(jain_index({0, 0}), 0);
  EXPECT_EQ(max_over_mean({}), 0);
}

}  // namespace
}  // namespace railyard::report
