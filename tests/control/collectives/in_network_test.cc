// Reduction in switches: which trees there are, and what each link carries.
#include <map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/collectives/collective_plan.h"
#include "control/collectives/reduction.h"

namespace railyard::collectives {
namespace {

using Kind = CollectiveStep::Kind;
constexpr std::uint32_t kNone = ReductionNetwork::kNone;

// Switches 0 .. leaves - 1 with `ranks` ranks each; behind them the spines, to which all are linked.
ReductionNetwork leaf_spine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t ranks) {
  ReductionNetwork n;
  n.neighbours.resize(leaves + spines);
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
    for (std::uint32_t spine = leaves; spine < leaves + spines; ++spine) {
      n.neighbours[leaf].push_back(spine);
      n.neighbours[spine].push_back(leaf);
    }
  for (std::uint32_t r = 0; r < leaves * ranks; ++r) n.leaf.push_back(r / ranks);
  return n;
}

ReductionNetwork reducing(ReductionNetwork n, const std::vector<std::uint32_t>& switches) {
  n.reducer.assign(n.neighbours.size(), kNone);
  for (const std::uint32_t s : switches) {
    n.reducer[s] = static_cast<std::uint32_t>(n.latency.size());
    n.latency.emplace_back();
  }
  return n;
}

TEST(ReductionTree, IsRootedAtASpineAndChannelsTakeTurnsWithTheSpines) {
  const ReductionNetwork n = reducing(leaf_spine(3, 2, 2), {0, 1, 2, 3, 4});
  for (const std::uint32_t which : {0u, 1u, 2u}) {
    const auto tree = reduction_tree(n, {0, 1, 2, 3, 4, 5}, which);
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->root, 3 + which % 2);
    EXPECT_EQ(tree->depth, 1u);
    EXPECT_THAT(tree->of_head, testing::ElementsAre(0, 0, 1, 1, 2, 2));
    ASSERT_EQ(tree->down.size(), 3u);
    for (const auto& e : tree->down) EXPECT_EQ(e.parent, tree->root);
  }
}

TEST(ReductionTree, StaysInTheLeafThatAllRanksAreAt) {
  const auto tree = reduction_tree(reducing(leaf_spine(3, 2, 2), {0, 1, 2, 3, 4}), {2, 3}, 0);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root, 1u);
  EXPECT_TRUE(tree->down.empty());
}

TEST(ReductionTree, GoesThroughSwitchesThatOnlyForward) {
  const auto spines = reduction_tree(reducing(leaf_spine(2, 2, 2), {2, 3}), {0, 1, 2, 3}, 0);
  ASSERT_TRUE(spines);
  EXPECT_THAT(spines->of_head, testing::ElementsAre(0, 0, 0, 0));
  const auto leaves = reduction_tree(reducing(leaf_spine(2, 2, 2), {0, 1}), {0, 1, 2, 3}, 0);
  ASSERT_TRUE(leaves);
  EXPECT_EQ(leaves->root, 0u);
  EXPECT_THAT(leaves->of_head, testing::ElementsAre(0, 0, 1, 1));
}

TEST(ReductionTree, IsNotThereWithoutAReducerThatAllReach) {
  EXPECT_FALSE(reduction_tree(reducing(leaf_spine(2, 2, 2), {}), {0, 1, 2, 3}, 0));
  // Two fabrics that nothing joins, as rails without spines.
  const ReductionNetwork rails = reducing(leaf_spine(2, 0, 2), {0, 1});
  EXPECT_FALSE(reduction_tree(rails, {0, 2}, 0));
  EXPECT_TRUE(reduction_tree(rails, {0, 1}, 0));
}

// A fat tree of two pods with two leaves and two spines each, under two cores: pods reduce before they leave.
TEST(ReductionTree, ReducesInEachTier) {
  ReductionNetwork n;
  n.neighbours = {{4, 5}, {4, 5}, {6, 7}, {6, 7}, {0, 1, 8}, {0, 1, 9}, {2, 3, 8}, {2, 3, 9}, {4, 6}, {5, 7}};
  n.leaf = {0, 1, 2, 3};
  const auto tree = reduction_tree(reducing(n, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), {0, 1, 2, 3}, 1);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root, 9u);
  EXPECT_EQ(tree->depth, 2u);
  std::map<std::uint32_t, std::uint32_t> parent;
  for (const auto& e : tree->down) parent[e.child] = e.parent;
  EXPECT_THAT(parent, testing::ElementsAre(std::pair{0u, 5u}, std::pair{1u, 5u}, std::pair{2u, 7u}, std::pair{3u, 7u},
                                           std::pair{5u, 9u}, std::pair{7u, 9u}));
}

// By sender and receiver.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> octets(const CollectiveShape& shape, std::uint32_t ranks) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> all;
  for (const RankProgram& p : plan_collective(shape, ranks))
    for (const CollectiveStep& s : p.steps)
      if (s.kind == Kind::kSend) all[{p.rank, p.connections[s.connection].peer}] += s.octets;
  return all;
}

// Ranks 0 .. 3 at two leaves; reducers 4 and 5 there, 6 at the spine.
CollectiveShape of_four(Operation operation) {
  return {.operation = operation,
          .algorithm = &kInNetwork,
          .size = 4 * 4 * 256,
          .chunk = 64,
          .reduction = reducing(leaf_spine(2, 1, 2), {0, 1, 2})};
}

TEST(InNetwork, CarriesAnAllReduceOnceOverEachLinkInEachDirection) {
  const CollectiveShape shape = of_four(Operation::kAllReduce);
  const auto carried = octets(shape, 4);
  EXPECT_EQ(carried.size(), 12u);  // four ranks and two leaves, up and down
  for (const auto& [ends, sum] : carried) EXPECT_EQ(sum, shape.size) << ends.first << " to " << ends.second;
}

TEST(InNetwork, CarriesAReduceUpFromAllAndDownToOne) {
  CollectiveShape shape = of_four(Operation::kReduce);
  shape.root = 2;
  const auto carried = octets(shape, 4);
  EXPECT_EQ(carried.size(), 8u);  // six up; spine to leaf to root
  EXPECT_TRUE(carried.contains({6, 5}));
  EXPECT_TRUE(carried.contains({5, 2}));
  for (const auto& [ends, sum] : carried) EXPECT_EQ(sum, shape.size);
}

TEST(InNetwork, CarriesABroadcastUpFromOneAndDownToAllOthers) {
  CollectiveShape shape = of_four(Operation::kBroadcast);
  shape.root = 2;
  const auto carried = octets(shape, 4);
  EXPECT_EQ(carried.size(), 3u + 3u);  // to the leaf, the spine, the other leaf; and to three ranks
  EXPECT_FALSE(carried.contains({5, 2}));
  for (const auto& [ends, sum] : carried) EXPECT_EQ(sum, shape.size);
}

TEST(InNetwork, CarriesAllUpAndItsBlockDownInAReduceScatterAndTheReverseInAnAllGather) {
  const CollectiveShape scatter = of_four(Operation::kReduceScatter);
  auto carried = octets(scatter, 4);
  for (std::uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ((carried[{r, 4 + r / 2}]), scatter.size);
    EXPECT_EQ((carried[{4 + r / 2, r}]), scatter.size / 4);
  }
  EXPECT_EQ((carried[{6, 4}]), scatter.size / 2);
  const CollectiveShape gather = of_four(Operation::kAllGather);
  carried = octets(gather, 4);
  for (std::uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ((carried[{r, 4 + r / 2}]), gather.size / 4);
    EXPECT_EQ((carried[{4 + r / 2, r}]), gather.size / 4 * 3);  // its own is there
  }
}

// Two hosts of four ranks at four rails, each of which has a leaf of its own: a quarter goes over each NIC, and no further
// than its leaf.
TEST(InNetwork, ReducesWithinHostsFirstAndUsesAllNics) {
  CollectiveShape shape{.algorithm = &kInNetwork, .size = 4 * 8 * 256, .chunk = 64};
  for (std::uint32_t r = 0; r < 8; ++r) {
    shape.host.push_back(r / 4);
    shape.rail.push_back(r % 4 + 1);
  }
  ReductionNetwork rails = leaf_spine(4, 1, 0);
  rails.leaf = {0, 1, 2, 3, 0, 1, 2, 3};
  shape.reduction = reducing(rails, {0, 1, 2, 3, 4});
  auto carried = octets(shape, 8);
  for (std::uint32_t r = 0; r < 8; ++r) {
    EXPECT_EQ((carried[{r, 8 + r % 4}]), shape.size / 4);
    EXPECT_EQ((carried[{8 + r % 4, r}]), shape.size / 4);
  }
  for (const auto& [ends, sum] : carried) EXPECT_NE(ends.first, 12u) << "the spine has nothing to do";
}

// Of one scale-up network with a reducer, as NVLS: each rank sends its data once and receives the sum of its part, which it sends
// on to all others.
TEST(InNetwork, WithinAScaleUpNetworkEachRankSendsItsDataAndItsPartOfTheSum) {
  CollectiveShape shape{.algorithm = &kInNetwork, .size = 4 * 4 * 256, .chunk = 64, .host = {0, 0, 0, 0}, .rail = {1, 1, 2, 2}};
  shape.reduction.of_network = {0};
  shape.reduction.latency = {{}};
  EXPECT_EQ(reduction_problem(shape, 4), std::nullopt);
  auto carried = octets(shape, 4);
  EXPECT_EQ(carried.size(), 8u);
  for (std::uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ((carried[{r, 4}]), shape.size + shape.size / 4);
    EXPECT_EQ((carried[{4, r}]), shape.size);  // the sum of its part, and the other parts
  }
  shape.reduction = {};
  EXPECT_EQ(reduction_problem(shape, 4),
            "all ranks are in one scale-up network, which does not reduce; expected scale-up.reduces: true");
}

}  // namespace
}  // namespace railyard::collectives
