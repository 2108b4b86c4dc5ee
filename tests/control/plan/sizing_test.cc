// Numbers of switches, against designs whose arithmetic is known.
#include "control/plan/sizing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::HasSubstr;

// The worked example of design guides: 128 ports of 400G, 51.2T, 4 leaves x 4 spines x 8 uplinks.
TEST(Sizing, TheWorkedExample) {
  for (const Said& said : {Said{{"gpus", "128"}}, Said{{"gpus", "128"}, {"gpus-per-node", "4"}},
                           Said{{"gpus", "256"}, {"nics-per-node", "4"}}, Said{{"gpus", "128"}, {"gpus-later", "256"}},
                           Said{{"gpus", "128"}, {"design", "fat-tree"}}}) {
    const Shape s = shaped(said);
    EXPECT_EQ(s.nic_ports(s.now), 128);
    EXPECT_EQ(s.nic_ports(s.now) * s.nic_rate.bps, 51'200'000'000'000);
    EXPECT_EQ(s.tiers, 2);
    EXPECT_EQ(s.stages(), 3);
    EXPECT_EQ(s.now.leaves, 4);
    EXPECT_EQ(s.now.spines, 4);
    EXPECT_EQ(s.down, 32);
    EXPECT_EQ(s.up, 32);
    EXPECT_EQ(s.uplinks_per_spine, 8);
    EXPECT_DOUBLE_EQ(s.leaf_oversubscription(), 1);
    EXPECT_EQ(s.leaf_links(s.now) * s.port_rate.bps, 51'200'000'000'000) << "as much up as down";
  }
}

// Al-Fares et al., SIGCOMM '08: k^3/4 hosts below k^2/2 leaves, k^2/2 spines, (k/2)^2 cores.
TEST(Sizing, FatTreesOfThreeTiers) {
  for (const int k : {4, 8, 16}) {
    const Shape s = shaped({{"gpus", std::to_string(k * k * k / 4)},
                            {"gpus-per-node", "1"},
                            {"radix", std::to_string(k)},
                            {"design", "fat-tree"}});
    EXPECT_EQ(s.tiers, 3);
    EXPECT_EQ(s.now.pods, k);
    EXPECT_EQ(s.now.leaves, k * k / 2);
    EXPECT_EQ(s.now.spines, k * k / 2);
    EXPECT_EQ(s.now.cores, k * k / 4);
    EXPECT_THAT(
        problem({{"gpus", std::to_string(k * k * k / 4 + 1)}, {"gpus-per-node", "1"}, {"radix", std::to_string(k)}}),
        HasSubstr("need more than three tiers"));
  }
}

// k^2/2 hosts below k leaves and k/2 spines are the most of two tiers.
TEST(Sizing, TwoTiersToTheirEnd) {
  const Shape most = shaped({{"gpus", "2048"}});
  EXPECT_EQ(most.tiers, 2);
  EXPECT_EQ(most.now.leaves, 64);
  EXPECT_EQ(most.now.spines, 32);
  EXPECT_EQ(most.uplinks_per_spine, 1);
  EXPECT_EQ(shaped({{"gpus", "2056"}}).tiers, 3);
}

TEST(Sizing, AFewNodesNeedOneSwitch) {
  const Shape s = shaped({{"gpus", "64"}});
  EXPECT_EQ(s.tiers, 1);
  EXPECT_EQ(s.now.leaves, 1);
  EXPECT_EQ(s.now.spines, 0);
}

TEST(Sizing, OversubscriptionTakesFewerUplinks) {
  const Shape s = shaped({{"gpus", "1024"}, {"oversubscription", "3"}});
  EXPECT_LE(s.leaf_oversubscription(), 3);
  EXPECT_GT(s.leaf_oversubscription(), 2);
  EXPECT_LE(s.down + s.up, 64);
  EXPECT_LT(s.now.switches(), shaped({{"gpus", "1024"}}).now.switches());
}

// No switch has more links than ports, and every leaf reaches every spine, whatever the numbers.
TEST(Sizing, NoSwitchHasTooFewPorts) {
  for (const char* design : {"rail-optimized", "fat-tree"})
    for (const char* radix : {"16", "32", "48", "64", "128"})
      for (const char* ratio : {"1", "1.5", "2", "3"})
        for (const int nodes : {1, 2, 3, 7, 16, 40, 100, 128}) {
          const Said said{{"gpus", std::to_string(nodes * 8)},
                          {"gpus-later", std::to_string(nodes * 12 / 8 * 8 + nodes % 2 * 8 + nodes * 8)},
                          {"radix", radix},
                          {"oversubscription", ratio},
                          {"design", design}};
          const std::string wrong = problem(said);
          if (!wrong.empty()) {
            EXPECT_THAT(wrong, HasSubstr("expected"));
            continue;
          }
          const Shape s = shaped(said);
          const std::string where = testing::PrintToString(said);
          EXPECT_LE(s.down + s.up, s.radix) << where;
          EXPECT_GE(std::int64_t{s.later.groups} * s.nodes_per_group, s.later.nodes) << where;
          EXPECT_GE(s.leaves_per_group * s.rails_per_leaf, s.nics_per_node) << where;
          if (s.tiers == 1) continue;
          EXPECT_LE(s.leaf_oversubscription(), std::stod(ratio)) << where;
          EXPECT_EQ(s.spines * s.uplinks_per_spine, s.up) << where;
          if (s.tiers == 2) {
            EXPECT_LE(s.later.leaves * s.uplinks_per_spine, s.radix) << where;
          } else {
            EXPECT_LE(s.leaves_per_pod() * s.uplinks_per_spine + s.spine_up, s.radix) << where;
            EXPECT_EQ(s.cores_per_plane * s.links_per_core, s.spine_up) << where;
            EXPECT_LE(s.later.pods * s.links_per_core, s.radix) << where;
          }
        }
}

TEST(Sizing, PortsOfTwiceTheRateTakeTwoNics) {
  const Shape s = shaped({{"gpus", "256"}, {"asic", "tomahawk5-64x800"}});
  EXPECT_EQ(s.split, 2);
  EXPECT_EQ(s.down, 32) << "64 NICs";
  EXPECT_EQ(s.now.leaves, 4);
  EXPECT_EQ(shaped({{"gpus", "128"}, {"asic", "tomahawk5-64x800"}}).now.switches(), 1) << "128 NICs at 64 ports";
}

TEST(Sizing, CapacityAndRadixAreTheSameSwitch) {
  EXPECT_EQ(choose_switch(requested({{"gpus", "8"}, {"capacity", "51.2Tbps"}, {"port-rate", "400Gbps"}})).radix, 128);
  EXPECT_EQ(choose_switch(requested({{"gpus", "8"}, {"capacity", "51.2Tbps"}})).asic, "tomahawk5-128x400");
  EXPECT_EQ(choose_switch(requested({{"gpus", "8"}})).capacity().bps, 25'600'000'000'000) << "64 x 400G";
  EXPECT_EQ(choose_switch(requested({{"gpus", "8"}, {"asic", "tomahawk5-64x800"}, {"port-rate", "400Gbps"}})).radix,
            128);
}

}  // namespace
}  // namespace railyard::plan
