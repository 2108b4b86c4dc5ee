// Lines from box to box, and port numbers where they end.
#pragma once

#include "control/picture/geometry.h"
#include "control/picture/plan.h"
#include "control/picture/positions.h"

namespace railyard::picture {

// Adds Picture::lines and Picture::ports. Ends stand at the sides of boxes in the order of where the lines go.
void place_lines(const Plan& plan, const Positions& positions, Picture& picture);

}  // namespace railyard::picture
