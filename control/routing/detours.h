// Longer ways that path policies may take (dataplane/switch/path/valiant.h): in a fabric of groups, any link to another
// group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "control/routing/graph.h"
#include "dataplane/switch/forwarding_table.h"

namespace railyard::routing {

// For switches with hosts, while paths are ordered by groups. Who has taken such a link is led on by the shortest way,
// which leads to the destination's group at once. Lengths of ways are those of all links up.
class Detours {
 public:
  // Whether some class of `graph`'s lab has a policy that takes detours, and there are groups.
  static bool wanted(const Graph& graph);

  explicit Detours(const Graph& graph);

  // The ways to one origin more: its owner, and every switch's hops to it; below 0: there is no way.
  void add_origin(std::size_t owner, std::span<const int> hops);

  // Sets what `node` may do for `origin` beside going by `route.ports`.
  void add_to(Route& route, std::size_t node, std::size_t origin) const;
  // The same as links; none: it is no switch with hosts, or the owner is in its group.
  std::vector<const Graph::Edge*> from(std::size_t node, std::size_t origin) const;

 private:
  static constexpr std::uint8_t kNoWay = 0xFF;

  const Graph& graph_;
  std::vector<std::vector<const Graph::Edge*>> leading_out_;  // by node: links to other groups, of those with hosts
  std::vector<std::size_t> owners_;                           // by origin
  std::vector<std::vector<std::uint8_t>> hops_;               // by origin and node
};

}  // namespace railyard::routing
