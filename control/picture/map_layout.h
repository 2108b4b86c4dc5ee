// From what a picture shows to where it is, for switches with coordinates.
#pragma once

#include "control/picture/diagram.h"
#include "control/picture/geometry.h"
#include "control/picture/shape.h"
#include "control/routing/graph.h"

namespace railyard::picture {

// Switches by their coordinates and the hosts of each beside it; lines are straight between neighbours and curved past
// others. Port numbers are written between switches where there is room. `diagram` is of the graph's lab, and `shape` not
// kTiers.
Picture map_layout(const Diagram& diagram, const routing::Graph& graph, Shape shape);

}  // namespace railyard::picture
