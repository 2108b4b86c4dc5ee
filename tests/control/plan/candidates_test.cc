// Designs at the same cost.
#include "control/plan/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/plan/compare.h"
#include "control/plan/fabric_file.h"
#include "control/routing/graph.h"
#include "control/spec/load.h"
#include "control/structure/structure.h"
#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::HasSubstr;

TEST(CandidatesTest, CostWhatThePlanCostsOrLess) {
  const Plan p = planned({{"gpus", "512"}});
  const Candidates c = candidates(p);
  ASSERT_EQ(c.all.size(), 4u);
  EXPECT_EQ(c.unit, CostUnit::kSwitches);
  EXPECT_EQ(c.budget, p.shape.now.switches());
  for (const Candidate& d : c.all) {
    ASSERT_EQ(d.why_not, "") << d.name;
    EXPECT_LE(d.cost, c.budget * 1.02) << d.name;
  }
  EXPECT_EQ(c.all[0].cost, c.budget);
  EXPECT_EQ(c.all[1].cost, c.budget) << "a fat tree takes the same switches";
  EXPECT_EQ(c.all[3].bill.count(Item::kSwitch), 8) << "one for each rail";
}

TEST(CandidatesTest, InMoneyEachIsAsDearAsThePlanAllows) {
  Prices prices;
  for (const auto& [item, price] :
       {std::pair{Item::kSwitch, 30'000.0}, {Item::kNic, 1'500.0}, {Item::kDac, 120.0}, {Item::kAoc, 600.0}})
    prices.each[static_cast<std::size_t>(item)] = price;
  const Candidates c = candidates(planned({{"gpus", "128"}}, prices));
  EXPECT_EQ(c.unit, CostUnit::kMoney);
  EXPECT_EQ(c.budget, 8 * 30'000 + 128 * 1'500 + 256 * 600);
  EXPECT_LE(c.all[1].cost, c.budget * 1.02);
  // Its cables between groups are longer, and their modules have no price.
  EXPECT_THAT(c.all[2].why_not, HasSubstr("no price of: server, sr, fibre"));
}

// What is paid for is what the files have.
TEST(CandidatesTest, FilesHaveTheSwitchesOfTheBill) {
  for (const Said& said : {Said{{"gpus", "128"}}, Said{{"gpus", "512"}, {"workload", "fine-tuning"}},
                           Said{{"gpus", "256"}, {"nics-per-node", "4"}}}) {
    const Plan p = planned(said);
    for (const Candidate& d : candidates(p).all) {
      if (!d.why_not.empty()) continue;
      const spec::Lab lab = spec::parse("name: x\n" + d.topology + switches_text(p.request, p.chosen, p.shape) +
                                            hosts_text(p.request, d.host_for_each_nic),
                                        d.name);
      EXPECT_EQ(std::ranges::count(lab.nodes, spec::NodeSpec::Kind::kSwitch, &spec::NodeSpec::kind),
                d.bill.count(Item::kSwitch))
          << d.name;
      EXPECT_EQ(std::ranges::count(lab.nodes, spec::NodeSpec::Kind::kHost, &spec::NodeSpec::kind), d.hosts) << d.name;
      if (d.name != "rail-only") EXPECT_EQ(structure::structure(routing::Graph(lab)).unreachable_pairs, 0u) << d.name;
    }
  }
}

TEST(CandidatesTest, ARailThatIsTooLargeForASwitchIsSaidSo) {
  const Candidates c = candidates(planned({{"gpus", "1024"}}));
  EXPECT_THAT(c.all[3].why_not, HasSubstr("a rail of 128 nodes does not fit one switch of 64 ports"));
}

TEST(CompareTest, EachDesignHasATimeAndItsWorstFailure) {
  const Comparison c = compare(planned({{"gpus", "128"}, {"model", "8B"}}));
  ASSERT_EQ(c.rows.size(), 4u);
  for (const Compared& r : c.rows) {
    ASSERT_TRUE(r.job) << r.design.name << ": " << r.why_no_job;
    ASSERT_FALSE(r.failures.empty());
    EXPECT_FALSE(r.failures.front().stretch) << "a leaf cuts off nodes in " << r.design.name;
    for (const FailureCost& f : r.failures)
      if (f.stretch) EXPECT_GE(*f.stretch, 0.99) << r.design.name << " " << f.kind;
  }
  // A leaf of a fat tree has all NICs of few nodes, a leaf of rails some NICs of many.
  EXPECT_LT(c.rows[1].failures.front().nodes_cut, c.rows[3].failures.front().nodes_cut);
  EXPECT_EQ(c.rows[1].failures.front().capacity_lost, 1);
  EXPECT_LT(c.rows[3].failures.front().capacity_lost, 1);
}

// A job in one node uses its scale-up network alone.
TEST(CompareTest, WhatTheJobDoesNotUseCostsNothing) {
  const Comparison c = compare(planned({{"gpus", "8"}, {"model", "8B"}}));
  for (const FailureCost& f : c.rows[0].failures) EXPECT_EQ(f.stretch, 1) << f.kind;
}

// Messages of rails stay below their leaves, if all nodes are there.
TEST(CompareTest, RailsDoNotNeedTheirSpines) {
  const Comparison c = compare(planned({{"gpus", "128"}, {"model", "8B"}}));
  for (const FailureCost& f : c.rows[0].failures)
    if (f.kind == "spine") EXPECT_EQ(f.stretch, 1);
  EXPECT_EQ(c.rows[0].job, c.rows[3].job) << "rail-only is as quick";
  EXPECT_LE(c.rows[0].job, c.rows[1].job) << "a fat tree has collisions";
}

}  // namespace
}  // namespace railyard::plan
