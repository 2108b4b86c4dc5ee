// Switches that reduce, as algorithms see them, and the trees in which they do: aggregation trees, as SHARP has them (Graham et
// al., "Scalable Hierarchical Aggregation Protocol (SHARP)", COM-HPC 2016). Pure: no lab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/collectives/plan.h"
#include "dataplane/base/time.h"

namespace railyard::collectives {

struct ReductionNetwork {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::vector<std::uint32_t>> neighbours{};  // by switch: those that it is cabled to
  std::vector<std::uint32_t> reducer{};                  // by switch: the number of its reducer, from 0; kNone: it has none
  std::vector<std::uint32_t> leaf{};                     // by rank: the switch of its NIC; kNone: it is at none
  // By number of a scale-up network (CollectiveShape::host): the reducer in its switches; kNone, or not there: it has none.
  std::vector<std::uint32_t> of_network{};
  // By reducer: how long it takes from a message's arrival until what depends on it may go.
  std::vector<Duration> latency{};

  std::optional<std::uint32_t> in_network(std::uint32_t network) const {
    if (network >= of_network.size() || of_network[network] == kNone) return std::nullopt;
    return of_network[network];
  }

  bool operator==(const ReductionNetwork&) const = default;
};

// Of one part of the data, over those ranks that speak for their hosts.
struct ReductionTree {
  struct Edge {
    std::uint32_t child = 0;   // reducers
    std::uint32_t parent = 0;
  };
  std::uint32_t root = 0;              // reducer
  std::vector<Edge> down{};            // from the root on: a reducer's edge to its parent comes before those to its children
  std::vector<std::uint32_t> of_head;  // by head: its reducer
  std::uint32_t depth = 0;             // edges between the root and the farthest reducer
};

// The tree of shortest paths from a root that is as near as can be to the farthest head; where several are, `which` takes
// turns with them. Switches without a reducer only forward. Nothing: no reducer can be reached by all heads.
std::optional<ReductionTree> reduction_tree(const ReductionNetwork& network, const Ranks& heads, std::uint32_t which);

// Why switches cannot reduce for these ranks: what is missing. Nothing: they can.
std::optional<std::string> reduction_problem(const CollectiveShape& shape, std::uint32_t ranks);

}  // namespace railyard::collectives
