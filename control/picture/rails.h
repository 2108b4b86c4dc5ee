// The rails of a lab: rail k is what NIC k of the hosts leads to.
#pragma once

#include <vector>

#include "control/routing/graph.h"

namespace railyard::picture {

inline constexpr int kNoRail = 0;

struct Rails {
  int count = 0;             // the most NICs of a host; 0: no host has more than one, and so there are no rails
  std::vector<int> of_node;  // by node: of a switch all of whose hosts are there with the same NIC; others: kNoRail
  std::vector<int> of_link;  // by link: from 1, of hosts' links and of those between a switch of a rail and one of none
};

Rails rails(const routing::Graph& graph);

}  // namespace railyard::picture
