#include "control/picture/rails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::picture {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(RailsOfALab, AreTheNicsAndTheirLeaves) {
  // Nodes: leaf-r1, leaf-r2, spine1, h1, h2. Links: h1:1, h1:2, h2:1, h2:2, then the uplinks of both leaves.
  const spec::Lab lab =
      spec::parse("name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 1 }\n", "x.yaml");
  const Rails r = rails(routing::Graph(lab));
  EXPECT_EQ(r.count, 2);
  EXPECT_THAT(r.of_node, ElementsAre(1, 2, kNoRail, kNoRail, kNoRail));
  EXPECT_THAT(r.of_link, ElementsAre(1, 2, 1, 2, 1, 2));
}

TEST(RailsOfALab, AreNoneWithOneNicPerHost) {
  const spec::Lab lab =
      spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n", "x.yaml");
  const Rails r = rails(routing::Graph(lab));
  EXPECT_EQ(r.count, 0);
  EXPECT_THAT(r.of_node, Each(kNoRail));
  EXPECT_THAT(r.of_link, Each(kNoRail));
}

TEST(RailsOfALab, AreNotThoseOfSwitchesThatOtherHostsAreAtToo) {
  const spec::Lab lab = spec::parse(
      "name: x\nnodes: { s: { kind: switch }, t: { kind: switch }, h: { kind: host, nics: 2 }, one: { kind: host } }\n"
      "links: [[h:1, s:1], [h:2, t:1], [one:1, s:2], [s:3, t:3]]\n",
      "x.yaml");
  const Rails r = rails(routing::Graph(lab));
  EXPECT_EQ(r.count, 2);
  EXPECT_THAT(r.of_node, Each(kNoRail));
  EXPECT_THAT(r.of_link, ElementsAre(1, 2, kNoRail, kNoRail));
}

}  // namespace
}  // namespace railyard::picture
