// Triggers for faster NICs.
#include "control/plan/step_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::HasSubstr;

TEST(StepUp, EightHundredGigabitNeedTheNextPciExpress) {
  const Plan p = planned({{"gpus", "128"}});
  EXPECT_FALSE(p.step.triggers[1].reached) << "504 Gb/s";
  EXPECT_THAT(p.step.triggers[1].threshold, HasSubstr("gen6x16"));
  EXPECT_NEAR(static_cast<double>(p.step.twice.nic.usable.bps), 504.123e9, 1e6) << "what the slot lets through, of 800 Gb/s";
  EXPECT_TRUE(planned({{"gpus", "128"}, {"pcie", "gen6x16"}}).step.triggers[1].reached) << "944 Gb/s";
}

TEST(StepUp, SlowNicsAreReplacedFirst) {
  EXPECT_TRUE(planned({{"gpus", "128"}, {"nic-rate", "25Gbps"}, {"model", "8B"}}).step.triggers[0].reached);
  EXPECT_FALSE(planned({{"gpus", "128"}, {"model", "8B"}}).step.triggers[0].reached);
}

// The rate that is needed is the one at which the trigger turns.
TEST(StepUp, TheTriggerTurnsAtTheRateThatIsNeeded) {
  const Plan p = planned({{"gpus", "128"}, {"model", "8B"}});
  const auto at = [](std::int64_t bps) {
    return planned({{"gpus", "128"}, {"model", "8B"}, {"nic-rate", std::to_string(bps / 1'000'000) + "Mbps"}})
        .step.triggers[0]
        .reached;
  };
  EXPECT_TRUE(at(p.step.needed.bps - 1'000'000'000));
  EXPECT_FALSE(at(p.step.needed.bps + 1'000'000'000));
}

// 64 ports of 400 Gb/s become 64 of 800 Gb/s, of the next chip: no switch more, half as many NICs at a port's rate.
TEST(StepUp, TheWorkedExampleAtTwiceTheRate) {
  const StepUp step = planned({{"gpus", "128"}}).step;
  ASSERT_TRUE(step.twice.shape);
  EXPECT_EQ(step.twice.chosen.asic, "tomahawk5-64x800");
  EXPECT_EQ(step.twice.chosen.radix, 64);
  EXPECT_EQ(step.twice.shape->now.leaves, 4);
  EXPECT_EQ(step.twice.shape->now.spines, 4);
  EXPECT_EQ(step.twice.shape->uplinks_per_spine, 8);
  EXPECT_EQ(step.twice.shape->nic_ports(step.twice.shape->now) * step.twice.rate.bps, 102'400'000'000'000);
  EXPECT_GT(step.twice.bill.fabric_watts, 1.9 * step.now.bill.fabric_watts);
}

TEST(StepUp, ChipsWithoutMorePortsOfTwiceTheRateNeedMoreTiers) {
  // 4,096 NICs fit in two tiers of 128 ports of 400 Gb/s; the largest chip has 64 of 800 Gb/s.
  const Plan p = planned({{"gpus", "4096"}, {"asic", "tomahawk5-128x400"}});
  ASSERT_EQ(p.shape.tiers, 2);
  EXPECT_EQ(p.step.twice.chosen.radix, 64);
  EXPECT_EQ(p.step.triggers[2].result, "3 tiers");
  EXPECT_FALSE(p.step.triggers[2].reached);
}

TEST(StepUp, PortsThatAreFastEnoughAlreadyStay) {
  const StepUp step = planned({{"gpus", "128"}, {"asic", "tomahawk5-64x800"}}).step;
  EXPECT_EQ(step.twice.chosen.asic, "tomahawk5-64x800");
  EXPECT_EQ(step.now.shape->split, 2);
  ASSERT_TRUE(step.twice.shape);
  EXPECT_EQ(step.twice.shape->split, 1);
}

TEST(StepUp, TheRatesAreColumns) {
  Prices prices;
  prices.each[static_cast<std::size_t>(Item::kSwitch)] = 30'000;
  const Plan p = planned({{"gpus", "128"}}, prices);
  const auto table = step_up_table(p.step, p.prices);
  EXPECT_THAT(table.front(), testing::ElementsAre("NICs of", "400 Gb/s", "800 Gb/s"));
  EXPECT_THAT(table, testing::Contains(testing::ElementsAre("switches", "4 leaves + 4 spines = 8", "4 leaves + 4 spines = 8")));
  EXPECT_THAT(table, testing::Contains(testing::ElementsAre("capacity to nodes", "51.2 Tb/s", "102 Tb/s")));
  for (const auto& line : table) EXPECT_EQ(line.size(), 3u);
}

// Prices of faster parts are their own: without them there is no price at twice the rate.
TEST(StepUp, PricesAtTwiceTheRateAreTheUsers) {
  Prices prices;
  for (const Item i : {Item::kSwitch, Item::kNic, Item::kAoc}) prices.each[static_cast<std::size_t>(i)] = 100;
  EXPECT_TRUE(planned({{"gpus", "128"}}, prices).step.now.bill.fabric_cost);
  EXPECT_FALSE(planned({{"gpus", "128"}}, prices).step.twice.bill.fabric_cost);
  for (const Item i : {Item::kSwitch, Item::kNic, Item::kAoc}) prices.at_twice[static_cast<std::size_t>(i)] = 150;
  const StepUp step = planned({{"gpus", "128"}}, prices).step;
  ASSERT_TRUE(step.twice.bill.fabric_cost);
  EXPECT_DOUBLE_EQ(*step.twice.bill.fabric_cost, 1.5 * *step.now.bill.fabric_cost);
}

}  // namespace
}  // namespace railyard::plan
