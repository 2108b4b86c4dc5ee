#include "control/collectives/algorithms/binary_tree.h"

#include <bit>

namespace railyard::collectives {
namespace {

// Places 1..n from left to right. A place's height is the lowest bit that is set in it: odd places are leaves, the
// greatest power of two is the root.
std::uint32_t parent_of(std::uint32_t place, std::uint32_t n) {
  const std::uint32_t bit = place & (~place + 1);
  const std::uint32_t left = place ^ bit;
  const std::uint32_t above = left | (bit << 1);
  return above <= n ? above : left;
}

// The second tree has the leaves of the first at its even places: mirrored if their number is even, else one place on.
std::uint32_t node_at(std::uint32_t place, std::uint32_t n, std::uint32_t which) {
  if (which == 0) return place - 1;
  return n % 2 == 0 ? n - place : (place + n - 2) % n;
}

}  // namespace

BinaryTree double_tree(std::uint32_t nodes, std::uint32_t which) {
  BinaryTree tree;
  const std::uint32_t top = std::bit_floor(nodes);
  tree.root = node_at(top, nodes, which);
  // A parent has a greater height, or the same and is further left; so heights from the top down, left to right.
  for (std::uint32_t height = top; height >= 1; height /= 2)
    for (std::uint32_t place = height; place <= nodes; place += 2 * height)
      if (place != top) tree.down.push_back({node_at(place, nodes, which), node_at(parent_of(place, nodes), nodes, which)});
  return tree;
}

}  // namespace railyard::collectives
