// Every leaf has a link to every spine; hosts have one NIC each.
//
//        spine1        spine2
//        |    \________/    |       leaf i: ports 1..H to its hosts, then its uplinks, spine by spine
//        |    /        \    |       spine s: port i to leaf i
//        leaf1         leaf2
//       /  |  |       |  |  \       (3 hosts per leaf)
//      h1  h2 h3      h4 h5 h6
#pragma once

#include "control/spec/presets/preset.h"

namespace railyard::spec {

Preset leaf_spine();

}  // namespace railyard::spec
