// Two binary trees over the same nodes, no node of which has children in both (Sanders, Speck, Traeff 2009, two-tree
// algorithms; NCCL 2.4 has them for all-reduce): each carries half of the data, so every link is used in full.
#pragma once

#include <cstdint>
#include <vector>

namespace railyard::collectives {

struct TreeEdge {
  std::uint32_t child = 0;
  std::uint32_t parent = 0;
};

struct BinaryTree {
  std::uint32_t root = 0;
  std::vector<TreeEdge> down{};  // from the root on: a node's edge to its parent comes before those to its children
};

// Tree 0 or 1 of `nodes` nodes, at least 1; its depth is the logarithm of their number.
BinaryTree double_tree(std::uint32_t nodes, std::uint32_t which);

}  // namespace railyard::collectives
