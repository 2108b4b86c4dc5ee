#include "dataplane/base/min_tree.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

TEST(MinTree, IsEmptyUntilAKeyIsSet) {
  MinTree tree(5);
  EXPECT_EQ(tree.min(), MinTree::kEmpty);
  tree.set(3, 40);
  EXPECT_EQ(tree.min(), 40u);
  tree.set(3, MinTree::kEmpty);
  EXPECT_EQ(tree.min(), MinTree::kEmpty);
}

TEST(MinTree, TheNextSmallestTakesOverWhenTheSmallestGrows) {
  MinTree tree(4);
  tree.set(0, 30);
  tree.set(1, 10);
  tree.set(2, 20);
  EXPECT_EQ(tree.min(), 10u);
  tree.set(1, 25);
  EXPECT_EQ(tree.min(), 20u);
  tree.set(2, MinTree::kEmpty);
  EXPECT_EQ(tree.min(), 25u);
}

TEST(MinTree, EqualKeysAreTakenAwayOneByOne) {
  MinTree tree(2);
  tree.set(0, 5);
  tree.set(1, 5);
  tree.set(0, 9);
  EXPECT_EQ(tree.min(), 5u);
  tree.set(1, 9);
  EXPECT_EQ(tree.min(), 9u);
}

TEST(MinTree, AgreesWithANaiveMinimumOverRandomOperations) {
  for (const std::size_t slots : {1u, 2u, 3u, 5u, 8u, 33u, 64u, 100u}) {
    SCOPED_TRACE(slots);
    RngStream rng(Seed{slots}, "min_tree_test");
    MinTree tree(slots);
    std::vector<std::uint64_t> model(slots, MinTree::kEmpty);
    for (int step = 0; step < 20'000; ++step) {
      const std::size_t slot = rng.below(slots);
      // Few different keys, so that ties are common; now and then none, and the extremes.
      const std::uint64_t kind = rng.below(16);
      const std::uint64_t key = kind == 0   ? MinTree::kEmpty
                                : kind == 1 ? 0
                                : kind == 2 ? MinTree::kEmpty - 1
                                            : rng.below(50);
      tree.set(slot, key);
      model[slot] = key;
      ASSERT_EQ(tree.min(), std::ranges::min(model)) << "step " << step;
      ASSERT_EQ(tree[slot], key);
    }
    for (std::size_t slot = 0; slot < slots; ++slot) EXPECT_EQ(tree[slot], model[slot]);
  }
}

}  // namespace
}  // namespace railyard
