// What stands around the boxes and lines: title, description, names of rows, notes between them, legend.
#pragma once

#include "control/picture/geometry.h"
#include "control/picture/plan.h"
#include "control/picture/positions.h"

namespace railyard::picture {

// Space around everything.
inline constexpr double kPad = 24;

// Writes title and description, `inner` wide; gives where they end.
double add_header(const Diagram& diagram, double inner, Picture& picture);

// Gives the picture its size and moves the positions to where there is room for them.
void add_frame(const Plan& plan, Positions& positions, Picture& picture);

}  // namespace railyard::picture
