// Switches reduce on the way up a tree, and the sum is multicast on the way down: each rank that speaks for its host sends its
// data once, and gets the result once. Within a scale-up network its switches do likewise, as NCCL's NVLS; or there is a chain,
// as in NCCL's CollNet.
#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/collectives/algorithms/groups.h"
#include "control/collectives/collective_plan.h"
#include "control/collectives/reduction.h"
#include "dataplane/base/assert.h"

namespace railyard::collectives {
namespace {

struct Part {
  std::size_t number = 0;  // of Groups::heads
  ReductionTree tree;
};

class InNetwork {
 public:
  explicit InNetwork(Plan& plan) : plan_(plan), groups_(plan.shape(), plan.ranks(), plan.shape().host) {
    // Within one network each rank has a part.
    if (is_one()) {
      groups_.heads.clear();
      for (const std::uint32_t r : groups_.members.front()) groups_.heads.push_back({r});
    }
    for (const std::size_t j : parts_of_channel(plan, groups_.heads.size())) {
      Part& part = parts_.emplace_back(Part{j, {}});
      if (is_one()) continue;
      std::optional<ReductionTree> tree = reduction_tree(plan.shape().reduction, groups_.heads[j], plan.channel());
      RAILYARD_ASSERT(tree.has_value(), "it was checked that there are trees");
      part.tree = std::move(*tree);
    }
  }

  void all_reduce(Range range) {
    each_part(range, [&](const Part& part, Range own) {
      plan_.begin_stream(slots());
      up(part, own);
      plan_.begin_stream(slots());
      down(part, own);
      // No head runs further ahead than what is on its way up the tree and down, and along the chains.
      if (!is_one()) plan_.wait_for_return(kSlots * (2 * part.tree.depth + 2 + longest_chain() - 1));
    });
  }

  // The sum of all to one rank.
  void reduce(Range range, std::uint32_t to) {
    if (is_one()) {
      in_pieces(plan_, range);
      plan_.begin_stream(slots());
      return gather(0, to, 0, range);
    }
    const std::uint32_t own_group = groups_.group_of(to);
    each_part(range, [&](const Part& part, Range own) {
      plan_.begin_stream(slots());
      up(part, own);
      const std::uint32_t head = groups_.heads[part.number][own_group];
      // The way from the root down to this rank only.
      std::uint32_t at = part.tree.of_head[own_group];
      std::vector<ReductionTree::Edge> way;
      for (const ReductionTree::Edge& e : part.tree.down | std::views::reverse)
        if (e.child == at) {
          way.push_back(e);
          at = e.parent;
        }
      for (const ReductionTree::Edge& e : way | std::views::reverse) copy_down(e, own);
      plan_.copy(plan_.reducer(part.tree.of_head[own_group]), head, own);
      if (head != to) plan_.copy(head, to, own);
    });
  }

  // What one rank has to all.
  void broadcast(Range range, std::uint32_t from) {
    const std::uint32_t own_group = groups_.group_of(from);
    each_part(range, [&](const Part& part, Range own) {
      plan_.begin_stream(slots());
      spread(own_group, part.number, from, own);
      if (is_one()) return;
      // Up to the root, and to whatever is not on this way.
      const Ranks& heads = groups_.heads[part.number];
      std::uint32_t at = part.tree.of_head[own_group];
      plan_.copy(heads[own_group], plan_.reducer(at), own);
      std::vector<std::uint32_t> has{at};
      for (const ReductionTree::Edge& e : part.tree.down | std::views::reverse)
        if (e.child == at) {
          plan_.copy(plan_.reducer(e.child), plan_.reducer(e.parent), own);
          has.push_back(at = e.parent);
        }
      for (const ReductionTree::Edge& e : part.tree.down)
        if (std::ranges::find(has, e.child) == has.end()) copy_down(e, own);
      for (std::size_t g = 0; g < heads.size(); ++g) {
        if (g == own_group) continue;
        plan_.copy(plan_.reducer(part.tree.of_head[g]), heads[g], own);
        spread(g, part.number, heads[g], own);
      }
    });
  }

 private:
  // All ranks are in one scale-up network: nothing leaves it.
  bool is_one() const { return groups_.members.size() == 1; }

  // Of a stream between two. All parts share a rank's port to the network that reduces, where what comes back must not wait
  // behind much that goes up; and what fills the latency is enough.
  std::size_t slots() const {
    for (std::size_t g = 0; g < groups_.members.size(); ++g)
      if (reducer_of(g)) return std::max<std::size_t>(2, 2 * kSlots / groups_.heads.size());
    return kSlots;
  }

  // What reduces in the scale-up network of a group.
  std::optional<std::uint32_t> reducer_of(std::size_t g) const {
    const std::vector<std::uint32_t>& host = plan_.shape().host;
    if (host.empty() || groups_.members[g].size() == 1) return std::nullopt;
    const auto number = plan_.shape().reduction.in_network(host[groups_.members[g].front()]);
    return number ? std::optional(plan_.reducer(*number)) : std::nullopt;
  }

  std::size_t longest_chain() const {
    std::size_t longest = 1;
    for (std::size_t g = 0; g < groups_.members.size(); ++g)
      longest = std::max(longest, reducer_of(g) ? std::size_t{3} : groups_.members[g].size());
    return longest;
  }

  template <class Do>
  void each_part(Range range, Do&& run) {
    const Ranges own = plan_.split(range, parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      in_pieces(plan_, own[p]);
      run(parts_[p], own[p]);
    }
  }

  // The sum of a group to its head of part j: by the reducer of its scale-up network (NVLS), else along a chain.
  void gather(std::size_t g, std::uint32_t head, std::size_t j, Range range) {
    const auto reducer = reducer_of(g);
    if (!reducer) return chain_up(plan_, groups_.chain(g, j), range);
    for (const std::uint32_t r : groups_.members[g]) plan_.reduce(r, *reducer, range);
    plan_.copy(*reducer, head, range);
  }

  // What one rank of a group has to the others of it.
  void spread(std::size_t g, std::size_t j, std::uint32_t from, Range range) {
    const auto reducer = reducer_of(g);
    if (!reducer) return chain_down(plan_, groups_.chain_of_root(g, j, from), range);
    plan_.copy(from, *reducer, range);
    for (const std::uint32_t r : groups_.members[g])
      if (r != from) plan_.copy(*reducer, r, range);
  }

  void up(const Part& part, Range range) {
    const Ranks& heads = groups_.heads[part.number];
    bool any = false;
    for (std::size_t g = 0; g < heads.size(); ++g) {
      gather(g, heads[g], part.number, range);
      any = any || reducer_of(g);
    }
    // A head that sends both to the reducer of its network and to that of a switch waits for what comes back from the latter.
    if (any) plan_.begin_stream(kSlots);
    if (is_one()) return;
    for (std::size_t g = 0; g < heads.size(); ++g) plan_.reduce(heads[g], plan_.reducer(part.tree.of_head[g]), range);
    for (const ReductionTree::Edge& e : part.tree.down | std::views::reverse)
      plan_.reduce(plan_.reducer(e.child), plan_.reducer(e.parent), range);
  }

  void down(const Part& part, Range range) {
    for (const ReductionTree::Edge& e : part.tree.down) copy_down(e, range);
    const Ranks& heads = groups_.heads[part.number];
    for (std::size_t g = 0; g < heads.size(); ++g) {
      if (!is_one()) plan_.copy(plan_.reducer(part.tree.of_head[g]), heads[g], range);
      spread(g, part.number, heads[g], range);
    }
  }

  void copy_down(const ReductionTree::Edge& e, Range range) {
    plan_.copy(plan_.reducer(e.parent), plan_.reducer(e.child), range);
  }

  Plan& plan_;
  Groups groups_;
  std::vector<Part> parts_;
};

std::optional<Refusal> refuse_without_reducers(const Algorithm& self, const Layout& layout) {
  if (layout.reduces) return std::nullopt;
  return Refusal{"algorithm",
                 fmt::format("{} needs switches that reduce, but none does; expected reduction in a switch profile, such as "
                             "switches: {{ default: {{ reduction: {{}} }} }}, or scale-up.reduces in a host profile",
                             self.name)};
}

// Up and down between ranks, and between reducers, of which there are no more than ranks; piece by piece.
double transfers(const Layout& layout, double octets) {
  const double pieces = std::clamp(octets / static_cast<double>(kMostPiece), static_cast<double>(kPieces),
                                   static_cast<double>(kMostPieces));
  return 4 * static_cast<double>(layout.ranks) * (pieces + 1);
}

}  // namespace

constinit const Algorithm kInNetwork{
    .name = "in-network",
    .help =
        "switches with `reduction` add what comes up a tree and multicast the sum down it, as SHARP does; scale-up networks "
        "with `reduces` do likewise, as NCCL's NVLS, others have a chain, as its CollNet",
    .all_reduce = [](Plan& plan, Range range) { InNetwork(plan).all_reduce(range); },
    .reduce_scatter =
        [](Plan& plan, const Ranges& blocks) {
          InNetwork tree(plan);
          for (std::uint32_t r = 0; r < plan.ranks(); ++r) tree.reduce(blocks[r], r);
        },
    .all_gather =
        [](Plan& plan, const Ranges& blocks) {
          InNetwork tree(plan);
          for (std::uint32_t r = 0; r < plan.ranks(); ++r) tree.broadcast(blocks[r], r);
        },
    .broadcast = [](Plan& plan, Range range) { InNetwork(plan).broadcast(range, plan.shape().root); },
    .reduce = [](Plan& plan, Range range) { InNetwork(plan).reduce(range, plan.shape().root); },
    .refuse = refuse_without_reducers,
    .in_switches = true,
    .transfers = transfers,
};

}  // namespace railyard::collectives
