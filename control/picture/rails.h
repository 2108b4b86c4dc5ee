// The rails of a lab: rail k is what NIC k of hosts with several NICs leads to.
#pragma once

#include <vector>

#include "control/routing/graph.h"

namespace railyard::picture {

inline constexpr int kNoRail = 0;

struct Rails {
  int count = 0;             // the most NICs of a host; 0: no host has more than one, and so there are no rails
  std::vector<int> of_node;  // by node: the NIC, from 1, that all hosts of a switch are there with; others: kNoRail
  std::vector<int>
      of_link;  // by link: of the links of such hosts, and of those from a switch of a rail to one without hosts
};

// Switches are of rails only if every one that has hosts is: a lab in which one host has a second NIC is not
// rail-optimized yet.
Rails rails(const routing::Graph& graph);

}  // namespace railyard::picture
