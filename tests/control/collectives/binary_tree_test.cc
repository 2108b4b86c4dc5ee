#include "control/collectives/algorithms/binary_tree.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace railyard::collectives {
namespace {

TEST(DoubleTree, ReachesAllNodesWithTwoChildrenAtMostAndTheDepthOfTheLogarithm) {
  for (std::uint32_t n = 1; n <= 130; ++n)
    for (const std::uint32_t which : {0u, 1u}) {
      const BinaryTree tree = double_tree(n, which);
      std::vector<int> depth(n, -1);
      std::vector<int> children(n, 0);
      depth[tree.root] = 0;
      ASSERT_EQ(tree.down.size(), n - 1);
      for (const TreeEdge& e : tree.down) {
        ASSERT_GE(depth[e.parent], 0) << n << ": " << e.child << " comes before its parent";
        ASSERT_EQ(depth[e.child], -1);
        depth[e.child] = depth[e.parent] + 1;
        ++children[e.parent];
      }
      EXPECT_LE(*std::ranges::max_element(children), 2) << n;
      EXPECT_LE(*std::ranges::max_element(depth), std::bit_width(n) - 1) << n;
    }
}

TEST(DoubleTree, NoNodeHasChildrenInBoth) {
  for (std::uint32_t n = 2; n <= 130; ++n) {
    std::vector<bool> first(n, false);
    for (const TreeEdge& e : double_tree(n, 0).down) first[e.parent] = true;
    for (const TreeEdge& e : double_tree(n, 1).down) EXPECT_FALSE(first[e.parent]) << n << ": " << e.parent;
  }
}

}  // namespace
}  // namespace railyard::collectives
