#include "control/collectives/algorithms/tree.h"

#include <algorithm>
#include <bit>
#include <map>
#include <ranges>

#include "control/collectives/algorithms/binary_tree.h"
#include "control/collectives/algorithms/groups.h"
#include "control/collectives/collective_plan.h"

namespace railyard::collectives {

void tree_all_reduce(Plan& plan, Range range, const std::vector<std::uint32_t>& group) {
  const Groups groups(plan.shape(), plan.ranks(), group);
  const auto n = static_cast<std::uint32_t>(groups.members.size());
  const std::vector<std::size_t> own = parts_of_channel(plan, groups.heads.size());
  const Ranges parts = plan.split(range, own.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::size_t j = own[part];
    const Ranges halves = plan.split(parts[part], 2);
    for (std::uint32_t t = 0; t < 2; ++t) {
      const BinaryTree tree = double_tree(n, t);
      const Ranks& head = groups.heads[j];
      in_pieces(plan, halves[t]);
      plan.begin_stream(kSlots);
      for (std::size_t g = 0; g < n; ++g) chain_up(plan, groups.chain(g, j), halves[t]);
      for (const TreeEdge& e : tree.down | std::views::reverse) plan.reduce(head[e.child], head[e.parent], halves[t]);
      plan.begin_stream(kSlots);
      for (const TreeEdge& e : tree.down) plan.copy(head[e.parent], head[e.child], halves[t]);
      std::size_t longest = 1;
      for (std::size_t g = 0; g < n; ++g) {
        const Ranks chain = groups.chain(g, j);
        longest = std::max(longest, chain.size());
        chain_down(plan, chain, halves[t]);
      }
      plan.wait_for_return(kSlots * (std::bit_width(n) + longest - 1));
    }
  }
}

// The root's group hands each half to the root of a tree over all other groups.
void tree_broadcast(Plan& plan, Range range, const std::vector<std::uint32_t>& group) {
  const Groups groups(plan.shape(), plan.ranks(), group);
  const auto n = static_cast<std::uint32_t>(groups.members.size());
  const std::uint32_t root = plan.shape().root;
  const std::uint32_t first = groups.group_of(root);
  const std::vector<std::size_t> mine = parts_of_channel(plan, groups.heads.size());
  const Ranges parts = plan.split(range, mine.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::size_t j = mine[part];
    const auto head = [&](std::uint32_t node) { return groups.heads[j][(first + 1 + node) % n]; };
    const Ranks own = groups.chain_of_root(first, j, root);
    const Ranges halves = plan.split(parts[part], 2);
    for (std::uint32_t t = 0; t < 2; ++t) {
      in_pieces(plan, halves[t]);
      plan.begin_stream(kSlots);
      chain_down(plan, own, halves[t]);
      if (n == 1) continue;
      const BinaryTree tree = double_tree(n - 1, t);
      plan.copy(groups.heads[j][first], head(tree.root), halves[t]);
      for (const TreeEdge& e : tree.down) plan.copy(head(e.parent), head(e.child), halves[t]);
      for (std::uint32_t g = 0; g < n; ++g)
        if (g != first) chain_down(plan, groups.chain(g, j), halves[t]);
    }
  }
}

// As tree_broadcast, from the leaves to the root.
void tree_reduce(Plan& plan, Range range, const std::vector<std::uint32_t>& group) {
  const Groups groups(plan.shape(), plan.ranks(), group);
  const auto n = static_cast<std::uint32_t>(groups.members.size());
  const std::uint32_t root = plan.shape().root;
  const std::uint32_t first = groups.group_of(root);
  const std::vector<std::size_t> mine = parts_of_channel(plan, groups.heads.size());
  const Ranges parts = plan.split(range, mine.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::size_t j = mine[part];
    const auto head = [&](std::uint32_t node) { return groups.heads[j][(first + 1 + node) % n]; };
    const Ranks own = groups.chain_of_root(first, j, root);
    const Ranges halves = plan.split(parts[part], 2);
    for (std::uint32_t t = 0; t < 2; ++t) {
      in_pieces(plan, halves[t]);
      plan.begin_stream(kSlots);
      for (std::uint32_t g = 0; g < n; ++g)
        if (g != first) chain_up(plan, groups.chain(g, j), halves[t]);
      if (n > 1) {
        const BinaryTree tree = double_tree(n - 1, t);
        for (const TreeEdge& e : tree.down | std::views::reverse)
          plan.reduce(head(e.child), head(e.parent), halves[t]);
        plan.reduce(head(tree.root), groups.heads[j][first], halves[t]);
      }
      chain_up(plan, own, halves[t]);
    }
  }
}

// Up and down, in two trees, of each part piece by piece.
double tree_transfers(const Layout& layout, double octets) {
  std::map<std::uint32_t, double> members;
  for (const std::uint32_t g : layout.group) members[g] += 1;
  double parts = 1;
  for (const auto& [group, count] : members) parts = std::max(parts, count);
  // Of these, those that a channel has (parts_of_channel).
  const auto all = static_cast<std::uint32_t>(parts);
  if (layout.channels % all == 0)
    parts = 1;
  else if (all % layout.channels == 0)
    parts /= layout.channels;
  const double pieces = std::clamp(octets / parts / 2 / static_cast<double>(kMostPiece), static_cast<double>(kPieces),
                                   static_cast<double>(kMostPieces));
  return 2 * 2 * layout.ranks * (pieces + 1) * parts;
}

constinit const Algorithm kTree{
    .name = "tree",
    .help =
        "NCCL's double binary tree, half of the data on each tree; between hosts with a scale-up network, "
        "with chains inside them",
    .all_reduce = [](Plan& plan, Range range) { tree_all_reduce(plan, range, plan.shape().host); },
    .broadcast = [](Plan& plan, Range range) { tree_broadcast(plan, range, plan.shape().host); },
    .reduce = [](Plan& plan, Range range) { tree_reduce(plan, range, plan.shape().host); },
    .usual_for = Operation::kBroadcast,
    .transfers = tree_transfers,
};

}  // namespace railyard::collectives
