// How many switches of which kind carry how many NICs: leaves, spines, cores.
//
// Two tiers where they are enough, else three: pods of leaves and spines below cores in planes, one plane for each
// spine of a pod (Al-Fares et al., SIGCOMM '08, section 3, with these numbers). A single leaf where that is enough.
// Switches above leaves are bought for the nodes of later, so that nobody has to move a cable; leaves are bought as
// nodes come.
#pragma once

#include <string>

#include "control/plan/request.h"
#include "control/plan/switch_choice.h"

namespace railyard::plan {

struct Level {
  int nodes = 0;
  int groups = 0;  // of nodes that share their leaves
  int pods = 0;
  int leaves = 0;
  int spines = 0;  // all pods together
  int cores = 0;

  int switches() const noexcept { return leaves + spines + cores; }
};

struct Shape {
  Design design = Design::kRailOptimized;
  int tiers = 2;
  int radix = 0;
  int nics_per_node = 0;
  int split = 1;  // NICs at one switch port, by a splitting cable
  BitRate nic_rate{};
  BitRate port_rate{};
  // Leaves.
  int rails_per_leaf = 1;  // of a node's NICs, those at the same leaf; all of them in a fat tree
  int leaves_per_group = 1;
  int nodes_per_group = 0;
  int down = 0;  // ports of a full leaf to NICs
  int up = 0;    // ports of a leaf to spines
  int uplinks_per_spine = 0;
  int spines = 0;  // of a pod; with two tiers of the fabric
  // With three tiers.
  int groups_per_pod = 0;
  int spine_up = 0;  // ports of a spine to cores
  int cores_per_plane = 0;
  int links_per_core = 0;  // from a spine to each core of its plane

  Level now{};
  Level later{};

  int stages() const noexcept { return 2 * tiers - 1; }
  int leaves_per_pod() const noexcept { return groups_per_pod * leaves_per_group; }
  std::int64_t nic_ports(const Level& l) const noexcept { return std::int64_t{l.nodes} * nics_per_node; }
  std::int64_t leaf_links(const Level& l) const noexcept { return std::int64_t{l.leaves} * up; }
  std::int64_t core_links(const Level& l) const noexcept { return std::int64_t{l.spines} * spine_up; }
  // Rate to NICs of a full leaf / rate to spines; 0: there are no spines.
  double leaf_oversubscription() const noexcept {
    return up == 0 ? 0
                   : static_cast<double>(nodes_per_group) * rails_per_leaf * static_cast<double>(nic_rate.bps) /
                         (static_cast<double>(up) * static_cast<double>(port_rate.bps));
  }
  double core_oversubscription() const noexcept {
    return spine_up == 0 ? 0 : static_cast<double>(leaves_per_pod() * uplinks_per_spine) / spine_up;
  }
};

// Of all shapes that fit, the one with the fewest switches for the nodes of later; then fewest leaves now, fewest
// cables, most nodes that share leaves. Throws spec::SpecError: none fits in three tiers.
Shape size(const Request& request, const SwitchChoice& chosen);

// What so many nodes take of a shape whose numbers per leaf, spine and core are set.
Level level_of(const Shape& shape, int nodes);

// "4 leaves, 4 spines": those that there are.
std::string counted_switches(const Level& level, const char* separator = ", ");

// The most NICs that three tiers of such switches carry.
std::int64_t most_nics(const Request& request, const SwitchChoice& chosen);

}  // namespace railyard::plan
