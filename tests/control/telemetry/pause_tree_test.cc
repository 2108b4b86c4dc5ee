#include "control/telemetry/pause_tree.h"

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::telemetry {
namespace {

using namespace literals;

PortClass queue(std::uint32_t device) { return {DeviceId{device}, PortIndex{0}, Priority{3}}; }
using Level = std::vector<PortClass>;

// Queue i is that of device i; 9 is a root.
PauseGraph graph(std::size_t n, const std::vector<std::pair<std::size_t, std::size_t>>& waits,
                 const std::vector<std::size_t>& at_root) {
  PauseGraph g{Instant{} + 1_ms, {}};
  for (std::size_t i = 0; i < n; ++i) g.paused.push_back({queue(static_cast<std::uint32_t>(i)), Instant{}, {}, {}});
  for (const auto& [from, to] : waits) g.paused[from].waits_for.push_back(to);
  for (const std::size_t i : at_root) g.paused[i].roots.push_back(queue(9));
  return g;
}

//  9 <- 0 <- 1, 2 <- 3 (which waits for both)
TEST(PauseTree, GoesFromTheRootToTheLastVictim) {
  const auto trees = pause_trees(graph(4, {{1, 0}, {2, 0}, {3, 1}, {3, 2}}, {0}));
  ASSERT_EQ(trees.size(), 1u);
  EXPECT_EQ(trees[0].root, queue(9));
  EXPECT_EQ(trees[0].levels, (std::vector<Level>{{queue(0)}, {queue(1), queue(2)}, {queue(3)}}));
}

TEST(PauseTree, ARingWithoutARootIsInNone) { EXPECT_TRUE(pause_trees(graph(2, {{0, 1}, {1, 0}}, {})).empty()); }

TEST(PauseTree, EndsWhereARingBitesItsTail) {
  const auto trees = pause_trees(graph(3, {{0, 2}, {1, 0}, {2, 1}}, {0}));
  ASSERT_EQ(trees.size(), 1u);
  EXPECT_EQ(trees[0].levels, (std::vector<Level>{{queue(0)}, {queue(1)}, {queue(2)}}));
}

TEST(PauseTreeWatch, RemembersTheWidestAndCountsTheOthers) {
  const build::BuiltLab lab(spec::parse(R"(
name: ten
nodes: { a: { kind: switch }, b: { kind: switch }, c: { kind: switch }, d: { kind: switch }, e: { kind: switch },
         f: { kind: switch }, g: { kind: switch }, h: { kind: switch }, i: { kind: switch }, j: { kind: switch } }
links: [[a:1, b:1]]
)",
                                        "ten.yaml"));
  PauseTreeWatch watch;
  watch.look(lab, graph(1, {}, {0}));
  watch.look(lab, graph(2, {{1, 0}}, {0}));
  watch.look(lab, graph(0, {}, {}));
  EXPECT_EQ(watch.looks(), 3u);
  ASSERT_EQ(watch.widest().size(), 1u);
  EXPECT_EQ(watch.widest()[0].root, "j:1 class 3");
  EXPECT_EQ(watch.widest()[0].levels, (std::vector<std::vector<std::string>>{{"a:1 class 3"}, {"b:1 class 3"}}));
  EXPECT_EQ(watch.held().at({"j:1 class 3", "a:1 class 3"}), 2u);
  EXPECT_EQ(watch.held().at({"j:1 class 3", "b:1 class 3"}), 1u);
}

}  // namespace
}  // namespace railyard::telemetry
