#include "control/tune/goal.h"

#include <stdexcept>

#include <gmock/gmock.h>

#include "tests/control/tune/small_lab.h"

namespace railyard::tune {
namespace {

using testing::HasSubstr;

Outcome outcome(double p99, double goodput, double paused = 0, double completed = 1) {
  return {{Figures{{"fct_p99", p99}, {"goodput", goodput}, {"pause_share", paused}, {"completed", completed}}}, {}};
}

std::string refusal(const std::vector<std::string>& goals, const std::vector<std::string>& conditions = {}) {
  try {
    parse_goal(small_lab(), goals, conditions, 0.02);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Goal, ScoresAreRelativeToTheStart) {
  const Goal g = parse_goal(small_lab(), {"p99"}, {}, 0.02);
  EXPECT_DOUBLE_EQ(score(g, outcome(100, 50), outcome(100, 50)), 1);
  EXPECT_DOUBLE_EQ(score(g, outcome(50, 50), outcome(100, 50)), 0.5);
  const Goal both = parse_goal(small_lab(), {"p99*3", "goodput"}, {}, 0.02);
  EXPECT_DOUBLE_EQ(score(both, outcome(50, 25), outcome(100, 50)), (3 * 0.5 + 2) / 4);
}

TEST(Goal, AMissedConditionIsWorseThanAnyGain) {
  const Goal g = parse_goal(small_lab(), {"p99"}, {"pause_share<=1%"}, 0.02);
  const Outcome start = outcome(100, 50);
  EXPECT_GT(score(g, outcome(1, 50, 0.02), start), score(g, start, start));
  EXPECT_LT(score(g, outcome(1, 50, 0.02), start), score(g, outcome(1, 50, 0.5), start)) << "less of it is less bad";
  EXPECT_FALSE(meets_conditions(g, outcome(1, 50, 0.02), start));
  EXPECT_TRUE(meets_conditions(g, outcome(1, 50, 0.01), start));
}

TEST(Goal, ShortQueuesOfTrafficThatWasNotCarriedAreNoGain) {
  const Goal g = parse_goal(small_lab(), {"p99"}, {}, 0.02);
  EXPECT_GE(score(g, outcome(1, 50, 0, 0.5), outcome(100, 50)), kFailedScore);
  EXPECT_GT(score(g, outcome(50, 40), outcome(100, 50)), 1) << "a fifth of the goodput is lost";
  EXPECT_LT(score(g, outcome(50, 49.5), outcome(100, 50)), 1) << "a hundredth is allowed";
  Outcome failed = outcome(1, 50);
  failed.failures.emplace_back("seed 2: deadlock");
  EXPECT_GE(score(g, failed, outcome(100, 50)), kFailedScore);
}

TEST(Goal, TheWorstSeedCountsIfAskedFor) {
  Goal g = parse_goal(small_lab(), {"p99"}, {}, 0.02);
  Outcome uneven = outcome(10, 50);
  uneven.runs.push_back(*outcome(190, 50).runs.begin());
  EXPECT_DOUBLE_EQ(score(g, uneven, outcome(100, 50)), 1);
  g.over_seeds = OverSeeds::kWorst;
  EXPECT_DOUBLE_EQ(score(g, uneven, outcome(100, 50)), 1.9);
}

TEST(Goal, WordsStandForFiguresOfTheLab) {
  EXPECT_EQ(parse_goal(small_lab(), {"jct"}, {}, 0).aims[0].figure, "makespan");
  EXPECT_EQ(parse_goal(small_lab({"collectives=[{ name: c, collective: all-reduce, size: 1MB }]"}), {"jct"}, {}, 0)
                .aims[0]
                .figure,
            "collective_time");
  EXPECT_EQ(parse_goal(small_lab(), {"no-pfc"}, {}, 0).aims[0].figure, "paused");
}

TEST(Goal, WhatCannotBeAGoalIsRefused) {
  EXPECT_THAT(refusal({"ecn_marked"}), HasSubstr("expected -ecn_marked for less"));
  EXPECT_THAT(refusal({"p99", "fct_p99"}), HasSubstr("given twice"));
  EXPECT_THAT(refusal({"p99*0"}), HasSubstr("a weight above 0"));
  EXPECT_THAT(refusal({"p99*x"}), HasSubstr("a weight above 0"));
  EXPECT_THAT(refusal({"p99"}, {"drops at leaf1 == 0"}), HasSubstr("figures of the whole run"));
  EXPECT_THAT(refusal({"p99"}, {"drops"}), HasSubstr("--subject-to"));
}

}  // namespace
}  // namespace railyard::tune
