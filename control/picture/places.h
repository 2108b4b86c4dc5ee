// Where switches with coordinates and their hosts stand, around a middle at 0, 0.
#pragma once

#include <cstddef>
#include <vector>

#include "control/picture/diagram.h"
#include "control/picture/geometry.h"
#include "control/picture/shape.h"
#include "control/routing/graph.h"

namespace railyard::picture {

struct Places {
  std::vector<Rect> rect;                       // by box
  std::vector<std::vector<std::size_t>> hosts;  // by box of a switch: boxes of its hosts
  std::vector<double> slot;                     // by box of a switch: its place around the circle, in steps of a switch
  double slots = 0;                             // around the circle; 0: a grid
  std::vector<int> ring;                        // by box of a switch: from the inside

  Point centre(std::size_t box) const noexcept {
    const Rect& r = rect[box];
    return {r.x + r.width / 2, r.y + r.height / 2};
  }
};

Places places_of(const Diagram& diagram, const routing::Graph& graph, Shape shape);

// How high a curve past `between` switches of a grid rises.
constexpr double curve_height(int between) { return 18 + 9 * between; }

}  // namespace railyard::picture
