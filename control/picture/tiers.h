// Which tier of the fabric a node stands in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/routing/graph.h"

namespace railyard::picture {

// 0 for hosts, 1 for the switches next to them, and so on upwards.
inline constexpr int kHostTier = 0;
inline constexpr int kLeafTier = 1;
inline constexpr int kSpineTier = 2;
inline constexpr int kSuperSpineTier = 3;

// What a switch's role says: leaf, tor or edge; spine or aggregation; super-spine or core. Capitals, '-', '_' and
// spaces do not count. Nothing: it says nothing that is known here.
std::optional<int> tier_of_role(std::string_view role);

// The tier of every node of the graph. A switch whose role says nothing is as high as its shortest way to a host is
// long; one without a way to any host is a leaf.
std::vector<int> tiers(const routing::Graph& graph);

// What `n` nodes of a tier are called: "1 leaf", "4 leaves". `named`: a role has said so; otherwise the lowest of
// several tiers of switches are leaves, and those of a lab with a single tier of switches are just that.
std::string tier_text(int tier, std::size_t n, bool named, bool only_tier_of_switches);

}  // namespace railyard::picture
