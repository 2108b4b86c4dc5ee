// Groups of ranks that reach each other within their host or leaf, and those of each that speak to other groups: what trees
// and in-network reduction share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/collectives/plan.h"

namespace railyard::collectives {

// Messages of a stream between two ranks that are under way at once, as NCCL has slots (NCCL_STEPS): what leaves send would
// else fill the queues before their parents, and hold up what comes down the other tree.
// NCCL's slots are free again when their data were used, and an acknowledgement says only that they came. So a rank
// sends nothing up before the sum of what it sent so many slots earlier has come down (Plan::wait_for_return()): a quick leaf
// would else fill the link of its parent with what is of no use yet, and both trees would wait.
inline constexpr std::size_t kSlots = 8;
// Data go through a tree piece by piece (in_pieces()): so many at least ...
inline constexpr std::uint64_t kPieces = 16;
// ... but no piece is smaller than a few packets, which would take longer by its headers, ...
inline constexpr std::uint64_t kLeastPiece = 32'768;
// ... and none is larger than this, unless there would be more than kMostPieces.
inline constexpr std::uint64_t kMostPiece = 65'536;
inline constexpr std::uint64_t kMostPieces = 512;

// Groups in the order in which ranks meet them; and where each chain ends: heads[j][g] is group g's rank that takes
// part j of the data to other groups and from them. Ranks at the same NIC if all groups have one at it: on the same rail.
struct Groups {
  std::vector<Ranks> members;
  std::vector<Ranks> heads;

  // `group`: by rank; empty: each rank is a group of its own.
  Groups(const CollectiveShape& shape, std::uint32_t ranks, const std::vector<std::uint32_t>& group);

  // A group's ranks from its head of part j on.
  Ranks chain(std::size_t g, std::size_t j) const;
  std::uint32_t group_of(std::uint32_t rank) const;
  // Within the root's group: from the root to the head, and from there on.
  Ranks chain_of_root(std::size_t g, std::size_t j, std::uint32_t root) const;

 private:
  void set_heads_by_nic(const CollectiveShape& shape);
};

// The parts of the data, with their heads, that a channel does. As many channels as parts, or a multiple: one each, as NCCL
// spreads channels over a host's NICs. Fewer: several each. Otherwise all in each channel, so that all NICs have as much.
std::vector<std::size_t> parts_of_channel(const Plan& plan, std::size_t parts);

// Data from the first of a chain to all others; and the sum of all to the first.
void chain_down(Plan& plan, const Ranks& chain, Range range);
void chain_up(Plan& plan, const Ranks& chain, Range range);

// Messages from here on are pieces of `range`.
void in_pieces(Plan& plan, Range range);

}  // namespace railyard::collectives
