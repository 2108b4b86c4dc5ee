// Where things are, along the rows and across them.
#pragma once

#include <cstddef>
#include <vector>

#include "control/picture/plan.h"

namespace railyard::picture {

inline constexpr double kBandPad = 14;     // around the boxes of a row
inline constexpr double kEndMargin = 12;   // from a box's corner to the first line
inline constexpr double kApartAside = 18;  // lines at the side of a box

struct Positions {
  std::vector<double> extent;  // along the row, by thing
  std::vector<double> centre;  // along the row, by thing, from the middle of the longest row
  double first_along = 0;      // where the rows begin
  double length = 0;           // and how long they are
  std::vector<double> row_depth;
  std::vector<double> row_thickness;
  double depth = 0;    // of all rows
  double along_0 = 0;  // what is added for what stands around
  double depth_0 = 0;

  // Where a thing stands along its row, and where its row begins and ends.
  double along(std::size_t thing) const { return along_0 + centre[thing]; }
  double upper(std::size_t row) const { return depth_0 + row_depth[row]; }
  double lower(std::size_t row) const { return upper(row) + row_thickness[row]; }
};

// Boxes of a row are equally thick: then no line from a thinner one meets the corner of its neighbour.
Positions positions(const Plan& plan);

}  // namespace railyard::picture
