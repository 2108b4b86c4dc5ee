// Dragonfly+: groups of leaves below spines, and links between the spines of any two groups (Shpiner et al., HiPINEB
// 2017).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "control/plan/bill.h"
#include "control/plan/request.h"
#include "control/plan/switch_choice.h"

namespace railyard::plan {

struct DragonflyShape {
  int groups = 0;
  int leaves = 0;  // of a group
  int spines = 0;  // of a group, two at least: one alone would be a single point of failure
  int uplinks_per_spine = 1;
  int nics_per_leaf = 0;
  int global_links = 0;  // of a spine, to other groups
  // Capacity over that of the NICs below: of a leaf's uplinks, of a group's links to others.
  double leaf_share = 0;
  double global_share = 0;

  double capacity() const noexcept { return std::min({leaf_share, global_share, 1.0}); }
  int hosts() const noexcept { return groups * leaves * nics_per_leaf; }
};

// For the nodes of now: that with the most capacity among those which `is_affordable`; else the cheapest by `cost`.
// Nothing: none fits.
std::optional<DragonflyShape> size_dragonfly(const Request& request, const SwitchChoice& chosen,
                                             const std::function<bool(const DragonflyShape&)>& is_affordable,
                                             const std::function<double(const DragonflyShape&)>& cost);

Parts parts_of(const DragonflyShape& shape, const Request& request, const SwitchChoice& chosen);
// "topology:" of a fabric file. Each NIC is a host; the neighbouring hosts of a node share a scale-up network.
std::string topology_text(const DragonflyShape& shape, const Request& request);

}  // namespace railyard::plan
