#include "control/plan/growth.h"

#include <algorithm>

namespace railyard::plan {

std::vector<TierPorts> ports_by_tier(const Shape& s) {
  std::vector<TierPorts> out;
  const auto ports = [&](int switches) { return std::int64_t{switches} * s.radix; };
  const auto at_split = [&](std::int64_t nics) { return (nics + s.split - 1) / s.split; };
  // Nodes of later that come to leaves of now.
  const std::int64_t room = std::int64_t{s.now.groups} * s.nodes_per_group * s.nics_per_node;
  const std::int64_t filled = std::min(s.nic_ports(s.later), room);
  const std::int64_t nics = at_split(s.nic_ports(s.now));
  out.push_back(
      {"leaf", s.now.leaves, s.later.leaves, ports(s.now.leaves), nics + s.leaf_links(s.now), at_split(filled) - nics});
  if (s.tiers == 1) return out;
  // Leaves of later at spines of now.
  const std::int64_t places = s.tiers == 3 ? std::int64_t{s.now.pods} * s.leaves_per_pod() : s.later.leaves;
  const std::int64_t links = std::min(places, std::int64_t{s.later.leaves}) * s.up;
  out.push_back({"spine", s.now.spines, s.later.spines, ports(s.now.spines), s.leaf_links(s.now) + s.core_links(s.now),
                 links - s.leaf_links(s.now)});
  if (s.tiers == 3)
    out.push_back({"core", s.now.cores, s.later.cores, ports(s.now.cores), s.core_links(s.now),
                   s.core_links(s.later) - s.core_links(s.now)});
  return out;
}

}  // namespace railyard::plan
