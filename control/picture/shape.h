// Fabrics whose switches have coordinates (`at`): placed by these, where tiers would say nothing.
#pragma once

#include "control/routing/graph.h"

namespace railyard::picture {

enum class Shape {
  kTiers,   // rows, one for each tier
  kCircle,  // one coordinate: a ring, a full mesh
  kGrid,    // two or three: tori, flattened butterflies
  kGroups,  // routing order: groups: dragonflies, group by group around a circle
};

// kTiers where a switch is nowhere, two are at the same place, a host is linked to several switches, there are more
// coordinates than can be drawn, or more switches than can be read.
Shape shape_of(const routing::Graph& graph);

}  // namespace railyard::picture
