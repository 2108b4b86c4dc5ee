#include "control/routing/class_walk.h"

#include <gmock/gmock.h>

#include "control/spec/load.h"

namespace railyard::routing {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two leaves under two spines; leaf1 moves class 3 to class 4.
spec::Lab lab(const std::string& leaf) {
  return spec::parse(
      "name: x\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
      "nodes: { leaf1: { profile: first } }\nswitches: { first: { qos: first } }\n"
      "qos: { first: " +
          leaf + ", default: { classes: { 3: { lossless: true }, 4: { lossless: true } } } }\n",
      "x.yaml");
}

std::vector<std::string> walked(const spec::Lab& l, const CodePoint& sent) {
  const Graph graph(l);
  ClassWalk walk(graph);
  std::vector<std::string> all;
  for (const ClassStep& s : walk.steps(graph.node("leaf1"), graph.node("leaf2"), sent)) {
    const int out = s.next.empty() ? walk.exit(s.node, graph.edges(s.node).front(), s.arrives).out_class
                                   : s.next.front().out_class;
    all.push_back(l.nodes[s.node].name + " DSCP " + std::to_string(s.arrives.dscp) + " class " +
                  std::to_string(s.in_class) + " to " + std::to_string(out) + " by " + std::to_string(s.next.size()));
  }
  return all;
}

TEST(ClassWalk, FollowsAllShortestPathsWithTheCodePointThatSwitchesWrite) {
  const spec::Lab l = lab("{ classes: { 3: { lossless: true, remap-to: 4 }, 4: { lossless: true } } }");
  EXPECT_THAT(walked(l, {.dscp = 26}),
              ElementsAre("leaf1 DSCP 26 class 3 to 4 by 2", "spine1 DSCP 32 class 4 to 4 by 1",
                          "spine2 DSCP 32 class 4 to 4 by 1", "leaf2 DSCP 32 class 4 to 4 by 0"));
  EXPECT_THAT(walked(l, {.dscp = 8}), ElementsAre("leaf1 DSCP 8 class 1 to 1 by 2", "spine1 DSCP 8 class 1 to 1 by 1",
                                                  "spine2 DSCP 8 class 1 to 1 by 1", "leaf2 DSCP 8 class 1 to 1 by 0"));
}

TEST(ClassWalk, AClassWithoutACodePointLeavesThePacketAsItIs) {
  std::string none = "{ dscp: { ";
  for (int dscp = 32; dscp < 40; ++dscp) none += std::to_string(dscp) + ": 5, ";
  const spec::Lab l = lab(none + "26: 3 }, classes: { 3: { lossless: true, remap-to: 4 }, 4: { lossless: true } } }");
  EXPECT_EQ(walked(l, {.dscp = 26}).at(1), "spine1 DSCP 26 class 3 to 3 by 1");
}

TEST(ClassWalk, WritesPcpWhereASwitchTrustsIt) {
  spec::QosProfile qos;
  qos.trust = spec::Trust::kPcp;
  EXPECT_EQ(remarked(qos, 4, {.dscp = 26, .pcp = 3}), (CodePoint{.dscp = 26, .pcp = 4}));
  EXPECT_EQ(remarked(qos, 4, {.dscp = 26}), CodePoint{.dscp = 26}) << "there is no tag to write into";
  EXPECT_EQ(class_of(qos, {.dscp = 26, .pcp = 5}), 5);
  EXPECT_EQ(class_of(qos, {.dscp = 26}), qos.default_class);
}

TEST(ClassWalk, FromAHostThereAreNoSteps) {
  const spec::Lab l = lab("{ classes: { 3: { lossless: true } } }");
  const Graph graph(l);
  EXPECT_THAT(ClassWalk(graph).steps(graph.node("h1"), graph.node("leaf2"), {}), IsEmpty());
}

}  // namespace
}  // namespace railyard::routing
