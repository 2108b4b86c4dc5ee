#include "dataplane/base/yield_policy.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

TEST(YieldPolicy, YieldsWhileNobodyIsInTheWay) {
  YieldPolicy policy;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(policy.sleeps(10_us * i));
    policy.yielded(10_us * i, 10_us * i + 1_us);
  }
}

TEST(YieldPolicy, ASetbackIsPaidForByAThousandTimesAsMuchOfSleeps) {
  YieldPolicy policy;
  policy.yielded(100_ms, 104_ms);
  EXPECT_TRUE(policy.sleeps(104_ms));
  EXPECT_TRUE(policy.sleeps(4_s + 103_ms));
  EXPECT_FALSE(policy.sleeps(4_s + 104_ms));
}

TEST(YieldPolicy, AMinuteAtMost) {
  YieldPolicy policy;
  policy.yielded(0_s, 1_s);
  EXPECT_TRUE(policy.sleeps(60_s));
  EXPECT_FALSE(policy.sleeps(61_s));
}

}  // namespace
}  // namespace railyard
