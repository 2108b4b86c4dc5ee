// Triggers for faster NICs.
#include "control/plan/step_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::HasSubstr;

TEST(StepUp, EightHundredGigabitNeedTheNextPciExpress) {
  EXPECT_FALSE(planned({{"gpus", "128"}}).triggers[1].reached) << "504 Gb/s";
  EXPECT_TRUE(planned({{"gpus", "128"}, {"pcie", "gen6x16"}}).triggers[1].reached) << "944 Gb/s";
}

TEST(StepUp, SlowNicsAreReplacedFirst) {
  EXPECT_TRUE(planned({{"gpus", "128"}, {"nic-rate", "25Gbps"}, {"model", "8B"}}).triggers[0].reached);
  EXPECT_FALSE(planned({{"gpus", "128"}, {"model", "8B"}}).triggers[0].reached);
}

TEST(StepUp, SwitchesOfTheSameCapacityHaveHalfThePorts) {
  // 1,600 NICs fit in two tiers of 64 ports, but not of 32.
  const Trigger t = planned({{"gpus", "1600"}}).triggers[2];
  EXPECT_THAT(t.result, HasSubstr("in 3 tiers"));
  EXPECT_FALSE(t.reached);
}

}  // namespace
}  // namespace railyard::plan
