// Ports that are free for later, and ports that nobody will use.
#include "control/plan/growth.h"

#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

TEST(Growth, SpinesHavePortsForTheLeavesOfLater) {
  const Plan p = planned({{"gpus", "128"}, {"gpus-later", "256"}});
  ASSERT_EQ(p.ports.size(), 2u);
  const TierPorts& leaf = p.ports[0];
  EXPECT_EQ(leaf.switches, 4);
  EXPECT_EQ(leaf.switches_later, 8);
  EXPECT_EQ(leaf.used, 4 * 64);
  EXPECT_EQ(leaf.stranded(), 0);
  const TierPorts& spine = p.ports[1];
  EXPECT_EQ(spine.switches, 4);
  EXPECT_EQ(spine.switches_later, 4) << "no spine is added, so no uplink moves";
  EXPECT_EQ(spine.used, 4 * 32);
  EXPECT_EQ(spine.reserved, 4 * 32);
  EXPECT_EQ(spine.stranded(), 0);
}

TEST(Growth, WithoutGrowthFreePortsAreStranded) {
  const Plan p = planned({{"gpus", "128"}});
  EXPECT_EQ(p.ports[1].reserved, 0);
  EXPECT_EQ(p.ports[1].stranded(), 4 * 32);
}

// Of all switches and at any size: no port is counted twice.
TEST(Growth, PortsAddUp) {
  for (const char* later : {"1024", "2048", "4096", "8192"})
    for (const char* gpus : {"64", "256", "1000", "1024"}) {
      const Plan p = planned({{"gpus", gpus}, {"gpus-later", later}});
      for (const TierPorts& t : p.ports) {
        EXPECT_GE(t.reserved, 0) << gpus << " " << later << " " << t.tier;
        EXPECT_GE(t.stranded(), 0) << gpus << " " << later << " " << t.tier;
        EXPECT_EQ(t.ports, std::int64_t{t.switches} * 64);
        EXPECT_LE(t.switches, t.switches_later);
      }
    }
}

}  // namespace
}  // namespace railyard::plan
