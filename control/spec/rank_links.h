// By which NICs of their hosts ranks of a collective reach each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/spec/spec.h"
#include "control/spec/switch_graph.h"

namespace railyard::spec {

// Each by its own NIC, if there is a path between the two. Else, as with hosts cabled to each other, by those NICs of
// both hosts that are no ranks of the collective themselves and are the closest.
class RankLinks {
 public:
  // `ranks`: by rank, its NIC. The lab outlives it.
  RankLinks(const Lab& lab, std::vector<PortName> ranks);

  // Whether all reach all by their own NICs.
  bool all_by_their_own() const noexcept { return all_by_their_own_; }
  // The NICs of rank `a` and of rank `b`; nothing: there is no path between any.
  std::optional<std::pair<PortName, PortName>> between(std::uint32_t a, std::uint32_t b);

 private:
  // Links on the shortest path between two NICs; hosts forward nothing.
  std::optional<int> links(const PortName& from, const PortName& to);
  const std::vector<int>& hops_from(std::size_t node);
  std::vector<PortName> choices(std::uint32_t rank) const;

  const Lab& lab_;
  std::vector<PortName> ranks_;
  std::map<PortName, std::uint32_t> rank_at_;
  SwitchGraph graph_;
  std::map<std::size_t, std::vector<int>> hops_;  // by switch: links from there to each other one, -1: no path
  bool all_by_their_own_ = true;
};

}  // namespace railyard::spec
