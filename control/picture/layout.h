// From what a picture shows to where it is.
#pragma once

#include "control/picture/diagram.h"
#include "control/picture/geometry.h"

namespace railyard::picture {

// Where the hosts are, seen from the spines.
enum class Direction { kDown, kRight };

// Tiers one below or beside the other, no two boxes on the same place, lines between their edges. Rates are written
// once per row gap, and on lines that differ from the others there or stand for several links; port numbers where there
// is room for them. Switches with coordinates are placed by these instead, whatever the direction (map_layout.h). The same diagram always gives the same picture.
Picture layout(const Diagram& diagram, const spec::Lab& lab, Direction direction);

}  // namespace railyard::picture
