// Links between the groups of a dragonfly: the consecutive arrangement of Kim et al. (ISCA 2008, figure 5): link l of a
// group leads to the l-th other group, in rounds.
#pragma once

#include <vector>

namespace railyard::spec {

struct GlobalLink {
  int group_a, link_a;  // which link of the group, from 0
  int group_b, link_b;
};

// Between `groups` >= 2 groups with so many links each: equally many between any two, the others are left out.
inline std::vector<GlobalLink> global_links(int groups, int links_per_group) {
  const auto place = [](int other, int own) { return other < own ? other : other - 1; };
  std::vector<GlobalLink> all;
  for (int round = 0; round < links_per_group / (groups - 1); ++round)
    for (int a = 0; a < groups; ++a)
      for (int b = a + 1; b < groups; ++b)
        all.push_back({a, round * (groups - 1) + place(b, a), b, round * (groups - 1) + place(a, b)});
  return all;
}

}  // namespace railyard::spec
