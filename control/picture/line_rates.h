// Rates on the lines of which the notes between the rows do not say it.
#pragma once

#include "control/picture/geometry.h"
#include "control/picture/plan.h"

namespace railyard::picture {

// Adds Picture::rates; boxes, lines and ports have their places already.
void add_line_rates(const Plan& plan, Picture& picture);

}  // namespace railyard::picture
