#include "control/picture/routes.h"

#include <algorithm>

namespace railyard::picture {
namespace {

constexpr std::size_t kMostStrands = 4;       // links of a line that are drawn one by one
constexpr std::size_t kMostStrandsAside = 3;  // beside each other within the height of a box

void tie(Rows& rows, std::size_t upper, std::size_t lower) {
  rows.down[upper].push_back(lower);
  rows.up[lower].push_back(upper);
}

// The lowest row of switches is what people order; everything else follows.
std::size_t row_that_stays(const Diagram& d) {
  std::size_t lowest = 0;
  for (std::size_t r = 0; r < d.rows.size(); ++r)
    if (!d.rows[r].boxes.empty() && !d.boxes[d.rows[r].boxes.front()].is_host) lowest = r;
  return lowest;
}

}  // namespace

Routes routes(const Diagram& d) {
  Routes out;
  for (const Row& row : d.rows) out.rows.rows.push_back(row.boxes);
  out.strands.assign(d.boxes.size(), 0);
  out.rows.up.resize(d.boxes.size());
  out.rows.down.resize(d.boxes.size());
  for (const Line& line : d.lines) {
    Route& route = out.of_line.emplace_back();
    route.strand_is_link = line.single_nodes && line.links.size() <= kMostStrands;
    route.strands = route.strand_is_link ? line.links.size() : 1;
    route.things.push_back(line.a);
    const std::size_t from = d.row_of[line.a];
    const std::size_t to = d.row_of[line.b];
    for (std::size_t row = from + 1; row < to; ++row) {
      const std::size_t bend = out.strands.size();
      out.strands.push_back(route.strands);
      out.rows.up.emplace_back();
      out.rows.down.emplace_back();
      out.rows.rows[row].push_back(bend);
      tie(out.rows, route.things.back(), bend);
      route.things.push_back(bend);
    }
    if (from != to) tie(out.rows, route.things.back(), line.b);
    route.things.push_back(line.b);
  }
  order(out.rows, row_that_stays(d));
  // Bends go last: then boxes that are next to each other have nothing between them.
  for (auto& row : out.rows.rows)
    std::stable_partition(row.begin(), row.end(), [&](std::size_t t) { return t < d.boxes.size(); });
  out.position.resize(out.strands.size());
  for (const auto& row : out.rows.rows)
    for (std::size_t i = 0; i < row.size(); ++i) out.position[row[i]] = i;
  for (std::size_t l = 0; l < d.lines.size(); ++l) {
    const Line& line = d.lines[l];
    Route& route = out.of_line[l];
    if (d.row_of[line.a] != d.row_of[line.b]) continue;
    const auto [first, last] = std::minmax(out.position[line.a], out.position[line.b]);
    route.kind = last == first + 1 ? Route::Kind::kAside : Route::Kind::kArc;
    if (route.strands > (route.kind == Route::Kind::kAside ? kMostStrandsAside : 1)) {
      route.strands = 1;
      route.strand_is_link = false;
    }
  }
  return out;
}

}  // namespace railyard::picture
