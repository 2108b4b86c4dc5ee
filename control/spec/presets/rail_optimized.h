// NIC r of every host is at a leaf of rail r, so that GPUs of one rail are one hop apart; spines join the rails. There
// is one leaf per rail and group of hosts: leaf-r1, leaf-r2, or leaf-r1-g1, leaf-r2-g1, leaf-r1-g2, ...
//
//            spine1
//           /      \.
//      leaf-r1    leaf-r2       leaf: port j to the j-th host of its group, then its uplinks, spine by spine
//      1|   2|    1|   2|       spine: port i to leaf i, group by group, rail by rail
//       |    |     |    |
//     h1:1  h2:1  h1:2  h2:2    (2 hosts, 2 rails, 1 spine)
#pragma once

#include "control/spec/presets/preset.h"

namespace railyard::spec {

Preset rail_optimized();

}  // namespace railyard::spec
