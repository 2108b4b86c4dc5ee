// Along the rows and across them: the same layout downwards and to the right.
#pragma once

#include "control/picture/geometry.h"
#include "control/picture/layout.h"

namespace railyard::picture {

struct Axes {
  Direction direction = Direction::kDown;

  bool down() const noexcept { return direction == Direction::kDown; }
  // `along` a row; `depth` from the first row to the last.
  Point point(double along, double depth) const noexcept { return down() ? Point{along, depth} : Point{depth, along}; }
  Rect rect(double along, double depth, double extent, double thickness) const noexcept {
    return down() ? Rect{along, depth, extent, thickness} : Rect{depth, along, thickness, extent};
  }
  double extent(double width, double height) const noexcept { return down() ? width : height; }
  double thickness(double width, double height) const noexcept { return down() ? height : width; }
};

}  // namespace railyard::picture
