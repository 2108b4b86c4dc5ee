// Three tiers: pods of leaves and spines, and cores above them (Al-Fares et al., "A Scalable, Commodity Data Center
// Network Architecture", SIGCOMM 2008; edge and aggregation switches are leaves and spines here). With `k` every switch
// has k ports: k pods of k/2 leaves and k/2 spines, k/2 hosts at each leaf, k²/4 cores, nothing oversubscribed. Each of
// these numbers can be said in its place.
//
//          core1     core2     core3     core4        core: port p to pod p
//             \       /           \       /
//           spine1 of each pod   spine2 of each pod    spine: ports 1..L to its pod's leaves, then to its cores
//               |   \             /   |
//               |     \         /     |                leaf: ports 1..H to its hosts, then to its pod's spines
//             leaf1             leaf2
//             h1 h2             h3 h4                  (pod 1 of k: 4)
//
// Numbers go on from pod to pod: spine3 and leaf3 are the first ones of the second. The i-th spine of every pod has the
// same cores.
#pragma once

#include "control/spec/presets/preset.h"

namespace railyard::spec {

Preset fat_tree();

}  // namespace railyard::spec
