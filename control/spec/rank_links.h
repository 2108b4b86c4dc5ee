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

// Each by its own NIC, if switches join those of all ranks. Else, as with hosts cabled to each other, by their own and
// those NICs of both hosts that are at no rank of the collective: their own, if there is a path between the two, or those
// that are the closest. Where other NICs are as close, channels take turns.
class RankLinks {
 public:
  // `ranks`: by rank, its NIC. The lab outlives it.
  RankLinks(const Lab& lab, std::vector<PortName> ranks);

  // Whether all reach all by their own NICs.
  bool all_by_their_own() const noexcept { return all_by_their_own_; }
  // The NICs of rank `a` and of rank `b` in a channel; nothing: there is no path between any.
  std::optional<std::pair<PortName, PortName>> between(std::uint32_t a, std::uint32_t b, std::uint32_t channel);
  // All that channels take turns with, each NIC once.
  const std::vector<std::pair<PortName, PortName>>& all_between(std::uint32_t a, std::uint32_t b);

 private:
  // Links on the shortest path between two NICs; hosts forward nothing.
  std::optional<int> links(const PortName& from, const PortName& to);
  const std::vector<int>& hops_from(std::size_t node);
  std::vector<PortName> choices(std::uint32_t rank) const;
  std::vector<std::pair<PortName, PortName>> find_between(std::uint32_t a, std::uint32_t b);

  const Lab& lab_;
  std::vector<PortName> ranks_;
  std::map<PortName, std::uint32_t> rank_at_;
  SwitchGraph graph_;
  std::map<std::size_t, std::vector<int>> hops_;  // by switch: links from there to each other one, -1: no path
  bool all_by_their_own_ = true;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<PortName, PortName>>> between_;
};

}  // namespace railyard::spec
