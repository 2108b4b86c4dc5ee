#include "control/collectives/algorithms/tree.h"

#include <algorithm>
#include <bit>
#include <map>
#include <ranges>
#include <set>

#include "control/collectives/algorithms/binary_tree.h"
#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// Data go through a tree piece by piece: so many at least in each half, but no piece is smaller than a few packets, which
// would take longer by its headers.
constexpr std::uint64_t kPieces = 16;
constexpr std::uint64_t kLeastPiece = 32'768;
constexpr std::uint64_t kMostPiece = 65'536;  // unless there would be more than ...
constexpr std::uint64_t kMostPieces = 512;
// And so many are under way between two ranks, as NCCL has slots (NCCL_STEPS): what leaves send would else fill the queues
// before their parents, and hold up what comes down the other tree.
constexpr std::size_t kSlots = 8;
// NCCL's slots are free again when their data were used, and an acknowledgement says only that they came. So a rank
// sends nothing up before the sum of what it sent so many slots earlier has come down: a quick leaf would else fill the
// link of its parent with what is of no use yet, and both trees would wait.

// Groups in the order in which ranks meet them; and where each chain ends: heads[j][g] is group g's rank that takes
// part j of the data to other groups and from them. Ranks at the same NIC if all groups have one at it: on the same rail.
struct Groups {
  std::vector<Ranks> members;
  std::vector<Ranks> heads;

  Groups(const Plan& plan, const std::vector<std::uint32_t>& group) {
    std::map<std::uint32_t, std::size_t> index;
    for (std::uint32_t r = 0; r < plan.ranks(); ++r) {
      const auto [found, is_new] = index.try_emplace(group.empty() ? r : group[r], members.size());
      if (is_new) members.emplace_back();
      members[found->second].push_back(r);
    }
    if (!plan.shape().rail.empty()) set_heads_by_nic(plan.shape());
    if (!heads.empty()) return;
    std::size_t parts = members.front().size();
    for (const Ranks& m : members) parts = std::min(parts, m.size());
    for (std::size_t j = 0; j < parts; ++j) {
      Ranks& h = heads.emplace_back();
      for (const Ranks& m : members) h.push_back(m[j]);
    }
  }

  void set_heads_by_nic(const CollectiveShape& shape) {
    const auto nic = [&](std::uint32_t r) { return shape.nic_in_network(r); };
    std::set<std::uint64_t> nics;
    for (const std::uint32_t r : members.front()) nics.insert(nic(r));
    for (const std::uint64_t wanted : nics) {
      Ranks h;
      for (const Ranks& m : members)
        if (const auto found = std::ranges::find(m, wanted, nic); found != m.end()) h.push_back(*found);
      if (h.size() == members.size()) heads.push_back(std::move(h));
    }
  }

  // A group's ranks from its head of part j on.
  Ranks chain(std::size_t g, std::size_t j) const {
    Ranks out = members[g];
    std::ranges::rotate(out, std::ranges::find(out, heads[j][g]));
    return out;
  }

  std::uint32_t group_of(std::uint32_t rank) const {
    std::uint32_t g = 0;
    while (std::ranges::find(members[g], rank) == members[g].end()) ++g;
    return g;
  }

  // Within the root's group: from the root to the head, and from there on.
  Ranks chain_of_root(std::size_t g, std::size_t j, std::uint32_t root) const {
    Ranks own = chain(g, j);
    std::erase(own, root);
    own.insert(own.begin(), root);
    return own;
  }
};

// The parts of the data, with their heads, that a channel does. As many channels as parts, or a multiple: one each, as NCCL
// spreads channels over a host's NICs. Fewer: several each. Otherwise all in each channel, so that all NICs have as much.
std::vector<std::size_t> parts_of_channel(const Plan& plan, std::size_t parts) {
  const std::size_t channels = plan.shape().channels;
  std::vector<std::size_t> own;
  for (std::size_t j = 0; j < parts; ++j) {
    const bool one_each = channels % parts == 0;
    const bool some_each = parts % channels == 0;
    if (one_each ? j == plan.channel() % parts : !some_each || j % channels == plan.channel()) own.push_back(j);
  }
  return own;
}

void chain_down(Plan& plan, const Ranks& chain, Range range) {
  for (std::size_t i = 1; i < chain.size(); ++i) plan.copy(chain[i - 1], chain[i], range);
}

void chain_up(Plan& plan, const Ranks& chain, Range range) {
  for (std::size_t i = chain.size() - 1; i >= 1; --i) plan.reduce(chain[i], chain[i - 1], range);
}

void in_pieces(Plan& plan, Range range) {
  plan.limit_messages(std::clamp(range.octets / kPieces, kLeastPiece, std::max(kMostPiece, range.octets / kMostPieces)));
}

}  // namespace

void tree_all_reduce(Plan& plan, Range range, const std::vector<std::uint32_t>& group) {
  const Groups groups(plan, group);
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
  const Groups groups(plan, group);
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
  const Groups groups(plan, group);
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
