// Expected work of runs, and how long it takes.
#include "control/bench/cost.h"

#include <gtest/gtest.h>

#include "control/bench/plan.h"
#include "control/spec/load.h"

namespace railyard::bench {
namespace {

double hops(const std::string& work) {
  const spec::Lab lab =
      spec::parse("name: t\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n" + work, "t.yaml");
  return expected_hops(lab, facts_of(lab));
}

TEST(BenchCost, AnAllReduceMovesEachByteTwice) {
  // 2 x 1 MiB x 3 in packets of 4 KiB over three switches.
  EXPECT_DOUBLE_EQ(hops("collectives: [{ name: a, collective: all-reduce, size: 1MiB, repeats: 5 }]\n"), 2 * 256 * 3 * 5 * 3);
  EXPECT_DOUBLE_EQ(hops("collectives: [{ name: a, collective: all-gather, size: 1MiB, repeats: 5 }]\n"), 256 * 3 * 5 * 3);
}

TEST(BenchCost, FlowsHaveTheirPackets) {
  EXPECT_DOUBLE_EQ(hops("traffic: [{ name: a, from: h1, to: h3, transport: roce, bytes: 1MiB, message: 64KiB }]\n"), 256 * 3);
  EXPECT_DOUBLE_EQ(hops("traffic: [{ name: a, from: h1, to: h3, transport: roce, bytes: 64KiB, message: 64B }]\n"), 1024 * 3)
      << "a message is a packet at least";
  EXPECT_NEAR(hops("traffic: [{ name: a, from: h1, to: h3, payload: 4KiB, rate: 40Gbps }]\nrun: { duration: 1ms }\n"),
              40e9 / 8 * 1e-3 / 4096 * 3, 1);
}

TEST(BenchCost, GreedyFlowsShareTheirLinks) {
  const char* const one = "traffic: [{ name: a, from: h1, to: h3, transport: roce, flows: 1 }]\nrun: { duration: 1ms }\n";
  const char* const many = "traffic: [{ name: a, from: h1, to: h3, transport: roce, flows: 50 }]\nrun: { duration: 1ms }\n";
  EXPECT_LE(hops(many), 4 * hops(one)) << "four hosts have four links";
}

TEST(BenchCost, TheTimeOfAClauseIsThatOfAllItsRuns) {
  Plan plan;
  plan.seeds = {1, 2};
  plan.cases.resize(3);
  for (Case& c : plan.cases) c.hops = 1e6;
  const Speed speed = speed_of(2e6, 1);
  EXPECT_EQ(runs_of(plan), 6u);
  EXPECT_DOUBLE_EQ(seconds_of(plan, speed, 2), (6 * 0.5 + 6 * speed.seconds_per_run) / 2);
  plan.cases[0].moment = Moment{"faults.f.at", 3, {}};
  EXPECT_EQ(runs_of(plan), 12u) << "each failure needs a run without it first";
}

TEST(BenchCost, TheSpeedIsKnownWithoutAPilotToo) {
  EXPECT_GT(speed_of(0, 0).hops_per_second, 0);
  EXPECT_GT(hops("collectives: [{ name: a, collective: all-reduce, size: 1MiB }]\n"), 0);
  const spec::Lab pilot = spec::parse(pilot_lab(), "pilot.yaml");
  EXPECT_GT(expected_hops(pilot, facts_of(pilot)), 1e5);
}

TEST(BenchCost, DurationsAreReadable) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(150), "2 min");
  EXPECT_EQ(duration_text(5 * 3600), "5.0 h");
  EXPECT_EQ(duration_text(3 * 86'400), "3.0 days");
}

}  // namespace
}  // namespace railyard::bench
