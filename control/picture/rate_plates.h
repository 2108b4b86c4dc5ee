// Rates written on lines.
#pragma once

#include <string>
#include <vector>

#include "control/picture/geometry.h"

namespace railyard::picture {

struct RateWish {
  std::string text;
  std::vector<Point> path;  // along which it may stand
  int gap = 0;              // those of the same gap between rows stand at the same height, if they can
};

// A plate for every wish that finds a place on its path without covering an obstacle or another plate; the others are
// left out, for a label on a label helps nobody.
std::vector<Plate> rate_plates(const std::vector<RateWish>& wishes, const std::vector<Rect>& obstacles);

}  // namespace railyard::picture
