// A plan as a fabric file: it loads, and the lab has the numbers of the plan.
#include "control/plan/fabric_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/plan/reduce.h"
#include "control/routing/graph.h"
#include "control/spec/load.h"
#include "control/structure/structure.h"
#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::HasSubstr;

spec::Lab lab_of(const Plan& p, int reduction = 1) {
  const std::string text =
      fabric_file(p.request, p.chosen, reduced(p.shape, reduction), p.cables, reduction, "railyard plan");
  return spec::parse(text, "plan.yaml");
}

std::size_t count(const spec::Lab& lab, const std::string& role) {
  return static_cast<std::size_t>(std::ranges::count(lab.nodes, role, &spec::NodeSpec::role));
}

TEST(FabricFile, TheWorkedExampleComesUp) {
  const Plan p = planned({{"gpus", "128"}});
  const spec::Lab lab = lab_of(p);
  EXPECT_EQ(count(lab, "leaf"), 4u);
  EXPECT_EQ(count(lab, "spine"), 4u);
  const structure::Structure s = structure::structure(routing::Graph(lab));
  ASSERT_EQ(s.tiers.size(), 2u);
  EXPECT_EQ(s.tiers[0].down_bps, 51'200'000'000'000);
  EXPECT_EQ(s.tiers[0].up_bps, 51'200'000'000'000);
  EXPECT_EQ(s.tiers[0].ports_used, 64u);
  EXPECT_EQ(s.bisection_bps, s.half_bps) << "not blocking";
  EXPECT_EQ(lab.links.size(), 128u + 4 * 4 * 8);
}

// Links and switches of the file are those of the bill, in all designs and tiers.
TEST(FabricFile, HasTheSwitchesAndLinksOfThePlan) {
  for (const Said& said : {Said{{"gpus", "64"}}, Said{{"gpus", "512"}, {"workload", "inference-rag"}},
                           Said{{"gpus", "512"}, {"design", "fat-tree"}}, Said{{"gpus", "1024"}, {"radix", "16"}},
                           Said{{"gpus", "512"}, {"radix", "16"}, {"design", "fat-tree"}},
                           Said{{"gpus", "256"}, {"nics-per-node", "4"}, {"asic", "tomahawk5-64x800"}},
                           Said{{"gpus", "16"}, {"gpus-per-node", "1"}, {"radix", "8"}}}) {
    const Plan p = planned(said);
    const spec::Lab lab = lab_of(p);
    const std::string where = testing::PrintToString(said);
    if (p.shape.tiers < 3) {
      EXPECT_EQ(count(lab, "leaf"), static_cast<std::size_t>(p.shape.now.leaves)) << where;
      EXPECT_EQ(count(lab, "spine"), static_cast<std::size_t>(p.shape.now.spines)) << where;
      std::int64_t links = 0;
      for (const CableRow& c : p.cables) links += c.now;
      EXPECT_EQ(lab.links.size(), static_cast<std::size_t>(links)) << where;
    } else {
      EXPECT_EQ(count(lab, "spine"), static_cast<std::size_t>(p.shape.now.spines)) << where;
      EXPECT_EQ(count(lab, "super-spine"), static_cast<std::size_t>(p.shape.now.cores)) << where;
    }
    const structure::Structure s = structure::structure(routing::Graph(lab));
    for (const structure::Tier& t : s.tiers)
      EXPECT_LE(t.ports_used, static_cast<std::size_t>(p.shape.radix * p.shape.split)) << where;
    if (p.shape.tiers > 1) {
      EXPECT_LE(s.tiers[0].oversubscription().value(), p.shape.leaf_oversubscription() + 1e-9) << where;
    }
    EXPECT_EQ(s.unreachable_pairs, 0u) << where;
  }
}

TEST(FabricFile, ReducedKeepsTheShape) {
  const Plan p = planned({{"gpus", "1024"}});
  const spec::Lab lab = lab_of(p, 16);
  EXPECT_EQ(std::ranges::count(lab.nodes, spec::NodeSpec::Kind::kHost, &spec::NodeSpec::kind), 8);
  const structure::Structure s = structure::structure(routing::Graph(lab));
  EXPECT_EQ(s.tiers.size(), 2u);
  EXPECT_DOUBLE_EQ(s.tiers[0].oversubscription().value(), 1);
  EXPECT_THAT(fabric_file(p.request, p.chosen, reduced(p.shape, 16), p.cables, 16, "x"),
              HasSubstr("Reduced 16 times: 8 of 128 nodes"));
}

TEST(FabricFile, ThreeTiersCanBeReducedToo) {
  const Plan p = planned({{"gpus", "8192"}, {"gpus-later", "16384"}});
  ASSERT_EQ(p.shape.tiers, 3);
  for (const int n : {8, 64, 256}) {
    const spec::Lab lab = lab_of(p, n);
    EXPECT_EQ(structure::structure(routing::Graph(lab)).unreachable_pairs, 0u) << n;
  }
  EXPECT_THROW(static_cast<void>(reduced(p.shape, 1024)), spec::SpecError);
}

}  // namespace
}  // namespace railyard::plan
