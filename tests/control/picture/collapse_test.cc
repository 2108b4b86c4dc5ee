#include "control/picture/collapse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/picture/tiers.h"
#include "control/spec/load.h"

namespace railyard::picture {
namespace {

using testing::ElementsAre;

// Sizes of the groups, in the order of their first nodes.
std::vector<std::size_t> sizes(const std::string& yaml) {
  const spec::Lab lab = spec::parse(yaml, "x.yaml");
  const routing::Graph graph(lab);
  std::vector<std::size_t> out;
  std::size_t nodes = 0;
  for (const Group& g : collapse(graph, tiers(graph))) {
    out.push_back(g.size());
    nodes += g.size();
  }
  EXPECT_EQ(nodes, lab.nodes.size());
  return out;
}

std::string leaf_spine(int leaves, int spines, int hosts) {
  return "name: x\ntopology: { preset: leaf-spine, leaves: " + std::to_string(leaves) +
         ", spines: " + std::to_string(spines) + ", hosts-per-leaf: " + std::to_string(hosts) + " }\n";
}

TEST(Collapse, LeavesSmallLabsAsTheyAre) { EXPECT_EQ(sizes(leaf_spine(2, 2, 8)), std::vector<std::size_t>(20, 1)); }

TEST(Collapse, PutsHostsOfALeafTogetherFirst) {
  EXPECT_THAT(sizes(leaf_spine(3, 2, 8)), ElementsAre(1, 1, 1, 1, 1, 8, 8, 8));  // leaves, spines, hosts
}

TEST(Collapse, AHostThatIsDifferentStandsAlone) {
  EXPECT_THAT(sizes(leaf_spine(3, 2, 8) + "nodes: { h2: { kind: host, attach: { tap: t0 } } }\nrun: { clock: wall }\n"),
              ElementsAre(1, 1, 1, 1, 1, 7, 1, 8, 8));
}

TEST(Collapse, ThenSpinesWithTheSameLeaves) {
  std::vector<std::size_t> expected(32, 1);  // leaves
  expected.push_back(32);                    // spines
  expected.insert(expected.end(), 32, 32);   // hosts, by leaf
  EXPECT_EQ(sizes(leaf_spine(32, 32, 32)), expected);
}

TEST(Collapse, ThenLeavesThatAreAlike) { EXPECT_THAT(sizes(leaf_spine(64, 8, 8)), ElementsAre(64, 8, 512)); }

TEST(Collapse, KeepsRailsApart) {
  EXPECT_THAT(
      sizes("name: x\ntopology: { preset: rail-optimized, hosts: 256, rails: 4, spines: 4, hosts-per-group: 16 }\n"),
      ElementsAre(16, 16, 16, 16, 4, 256));
}

TEST(Collapse, WhatHasNoStructureIsOneBoxPerTier) {
  std::string yaml = "name: x\nnodes:\n";
  std::string links = "links:\n";
  for (int i = 1; i <= 64; ++i) {
    yaml += "  s" + std::to_string(i) + ": { kind: switch }\n  h" + std::to_string(i) + ": { kind: host }\n";
    links +=
        "  - [h" + std::to_string(i) + ":1, s" + std::to_string(i) + ":1, { cable: " + std::to_string(i) + "m }]\n";
  }
  EXPECT_THAT(sizes(yaml + links), ElementsAre(64, 64));
}

}  // namespace
}  // namespace railyard::picture
