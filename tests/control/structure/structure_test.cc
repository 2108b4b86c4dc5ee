// Figures of designs whose arithmetic is known.
#include "control/structure/structure.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::structure {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kG = 1'000'000'000;

Structure of(const std::string& yaml) {
  const spec::Lab lab = spec::parse("name: x\n" + yaml, "x.yaml");
  return structure(routing::Graph(lab));
}

// 4 leaves of 8 hosts at 100G, 2 spines: 800G down and 200G up per leaf.
TEST(Structure, LeafSpine) {
  const Structure s = of(
      "topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 8 }\n"
      "defaults: { link: { rate: 100Gbps } }\n");
  ASSERT_THAT(s.tiers, SizeIs(2));
  EXPECT_EQ(s.tiers[0].switches, 4u);
  EXPECT_EQ(s.tiers[0].ports_used, 10u);
  EXPECT_EQ(s.tiers[0].down_bps, 3200 * kG);
  EXPECT_EQ(s.tiers[0].up_bps, 800 * kG);
  EXPECT_DOUBLE_EQ(s.tiers[0].oversubscription().value(), 4);
  EXPECT_FALSE(s.tiers[1].oversubscription().has_value());
  EXPECT_EQ(s.least_switches, 1);
  EXPECT_EQ(s.most_switches, 3);
  // Of 31 others 7 are behind the same leaf.
  EXPECT_DOUBLE_EQ(s.mean_switches, (7 * 1 + 24 * 3) / 31.0);
  EXPECT_EQ(s.bisection_bps, 400 * kG) << "two leaves with two uplinks each";
  EXPECT_EQ(s.half_bps, 1600 * kG);
  EXPECT_EQ(s.unreachable_pairs, 0u);
}

// Al-Fares et al. 2008: k^3/4 hosts, 5k^2/4 switches, full bisection.
TEST(Structure, FatTreesHaveFullBisection) {
  for (const int k : {4, 8}) {
    const Structure s = of("topology: { preset: fat-tree, k: " + std::to_string(k) +
                           " }\ndefaults: { link: { rate: 100Gbps } }\n");
    ASSERT_THAT(s.tiers, SizeIs(3));
    EXPECT_EQ(s.tiers[0].switches + s.tiers[1].switches + s.tiers[2].switches, static_cast<std::size_t>(5 * k * k / 4));
    for (const Tier& t : s.tiers) EXPECT_EQ(t.ports_used, static_cast<std::size_t>(k));
    EXPECT_EQ(s.most_switches, 5);
    EXPECT_EQ(s.bisection_bps, 100 * kG * k * k * k / 8);
    EXPECT_EQ(s.bisection_bps, s.half_bps);
  }
}

// Without spines rails do not meet: NIC 1 of one host does not reach NIC 2 of another.
TEST(Structure, RailsThatDoNotMeet) {
  const Structure s = of(
      "topology: { preset: rail-optimized, hosts: 4, rails: 2, spines: 0 }\ndefaults: { link: { rate: 100Gbps } }\n");
  ASSERT_THAT(s.tiers, SizeIs(1));
  EXPECT_EQ(s.most_switches, 1);
  EXPECT_EQ(s.bisection_bps, 2 * 2 * 100 * kG) << "over each rail";
  EXPECT_EQ(s.unreachable_pairs, 4u * 3 * 2) << "two of four pairs of NICs of each ordered pair of hosts";
  EXPECT_THAT(lines(s).back(), HasSubstr("no path"));
}

// A ring of four: two links cross the middle.
TEST(Structure, ARing) {
  std::string yaml = "nodes:\n";
  std::string links = "links:\n";
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i);
    yaml += "  s" + n + ": { kind: switch }\n  h" + n + ": { kind: host }\n";
    links += "  - [s" + n + ":1, s" + std::to_string(i % 4 + 1) + ":2, { rate: 10Gbps }]\n";
    links += "  - [h" + n + ":1, s" + n + ":3, { rate: 100Gbps }]\n";
  }
  const Structure s = of(yaml + links);
  EXPECT_EQ(s.bisection_bps, 20 * kG);
  EXPECT_EQ(s.lateral_links, 4u);
  EXPECT_EQ(s.most_switches, 3);
}

TEST(Structure, OneHostHasNoBisection) {
  EXPECT_FALSE(of("topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 1 }\n").bisection_bps);
}

}  // namespace
}  // namespace railyard::structure
