// Things side by side in rows, so that what is linked stands close.
#pragma once

#include <cstddef>
#include <vector>

namespace railyard::picture {

// Things are numbered; each is in one row.
struct Rows {
  std::vector<std::vector<std::size_t>> rows;  // from top to bottom, each from left to right
  std::vector<std::vector<std::size_t>> up;    // by thing: what it is linked to in the row above
  std::vector<std::vector<std::size_t>> down;  // and in the row below
};

// Orders the rows: row `fixed` stays as it is, and what is above or below it follows the means of its neighbours there
// (the barycentre heuristic of Sugiyama, Tagawa and Toda, 1981). Things linked to the same stay in their order; things
// that are linked to nothing go last.
void order(Rows& rows, std::size_t fixed);

// Where the centre of each thing is. `extent`: by thing, along the row; `space`: by thing, the least space behind it in
// its row. The longest row is packed around 0; the others stand as close to the means of their neighbours as their
// extents allow, in the sense of least squares, and short ones are spread a little.
std::vector<double> places(const Rows& rows, const std::vector<double>& extent, const std::vector<double>& space);

// The numbers closest to `wanted`, in the sense of least squares, that are at least `apart[i]` apart from i to i + 1.
std::vector<double> closest_apart(const std::vector<double>& wanted, const std::vector<double>& apart);

}  // namespace railyard::picture
