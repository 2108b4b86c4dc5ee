// The way of each line through the rows.
#pragma once

#include <cstddef>
#include <vector>

#include "control/picture/arrange.h"
#include "control/picture/diagram.h"

namespace railyard::picture {

struct Route {
  enum class Kind { kDown, kAside, kArc };  // to a lower row, to the next box of the row, to another box of the row
  Kind kind = Kind::kDown;
  // From Line::a to Line::b: boxes at the ends and bends between, one per row that is passed. Boxes are numbered as in
  // the diagram, bends behind them.
  std::vector<std::size_t> things;
  std::size_t strands = 1;  // drawn side by side: each a link, or one for all of them
  bool strand_is_link = true;
};

struct Routes {
  std::vector<Route> of_line;
  Rows rows;                          // in order, with bends
  std::vector<std::size_t> position;  // of each thing in its row
  std::vector<std::size_t> strands;   // of each bend, by thing; boxes: 0
};

Routes routes(const Diagram& diagram);

}  // namespace railyard::picture
