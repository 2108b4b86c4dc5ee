// What is written in a box, and how large the box is for it.
#pragma once

#include "control/picture/axes.h"
#include "control/picture/diagram.h"
#include "control/picture/geometry.h"

namespace railyard::picture {

// The least size of a box, at 0, 0: with room for port numbers at the edges where lines end.
Rect box_size(const Box& box, const Axes& axes);

// Puts name and lines into the middle of `placed.place`.
void write_box(const Box& box, PlacedBox& placed);

}  // namespace railyard::picture
