// Three tiers of switches: pods of leaves and spines, and a third tier that joins the pods. Ports of a leaf: hosts, then
// its pod's spines; of a spine: its pod's leaves, then the third tier; of the third tier: pod by pod.
#pragma once

#include <string>

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct ThreeTiers {
  int pods = 1;
  int leaves = 1;  // per pod
  int spines = 1;  // per pod
  int hosts = 1;   // per leaf
  int rails = 1;   // NICs per host, each at a leaf of its own
  // Switches above each spine: those above the i-th spines of all pods, plane i; or one set above all spines.
  int tops = 0;
  bool planes = true;
  int leaf_uplinks = 1;   // links from each leaf to each spine
  int spine_uplinks = 1;  // links from each spine to each switch above it
  LinkSpec host_link;
  LinkSpec fabric_link;
  LinkSpec top_link;
  std::string leaf_profile = "default";
  std::string spine_profile = "default";
  std::string top_profile = "default";
  std::string host_profile = "default";
  std::string top_name;  // "core": core1, core2, ...
  std::string top_role;
};

// Refuses what is too large, at `topology`.
void check_sizes(const Tree& topology, const ThreeTiers& fabric);
// Appends to `lab`: leaf1.., spine1.. from pod to pod, the third tier plane by plane, h1...
void make(const Tree& topology, const ThreeTiers& fabric, Lab& lab);

// The fewest links of rate `up` that carry `down` / `ratio`: oversubscription, rounded up to whole links.
int uplinks_for(Int128 down_bps, BitRate up, Ratio ratio);

}  // namespace railyard::spec
