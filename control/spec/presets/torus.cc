// Switches in a grid of any number of dimensions, along each of which they are rings: the torus (k-ary n-cube) of TPU pods
// and many supercomputers. Switch s(1 + x + X (y + Y z)) is at [x, y, z].
//
//     s4 - s5 - s6 -        ports: hosts, then for each dimension up and down (one for two switches)
//     |    |    |
//     s1 - s2 - s3 -        (size: [3, 2]; the lines at the right lead to the first of the row)
//
// Routing goes along one dimension after the other. Lossless classes go one up where a ring closes, at its date line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/presets/direct.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct Torus : Direct {
  std::vector<int> size;
  bool date_lines = true;
};

const Table<Torus>& torus_keys() {
  static const Table<Torus> table = [] {
    std::vector<Key<Torus>> keys{
        preset_key<Torus>("torus"),
        key("size", &Torus::size, grid_size(), "switches along each dimension: [4, 4] or [4, 4, 4]").require(),
        hosts_per_switch_key<Torus>(),
        date_lines_key(&Torus::date_lines)};
    for (Key<Torus>& key : direct_keys<Torus>()) keys.push_back(std::move(key));
    return Table<Torus>{"torus", "Switches in a grid whose rows and columns are rings: s1.., h1..", std::move(keys)};
  }();
  return table;
}

void expand_torus(const Tree& topology, const LinkSpec& link, Lab& lab) {
  Torus said;
  torus_keys().read(topology, said);
  std::vector<GridDimension> grid;
  for (const int size : said.size) grid.push_back({size, true});
  expand_grid(topology, said, link, grid, said.date_lines, lab);
}

}  // namespace

Preset torus() {
  return {.name = "torus",
          .summary = "A grid whose rows and columns are rings: short links only, and dimension-order routing.",
          .expand = expand_torus,
          .schema = [] { return torus_keys().schema(); },
          .reference = {{"size: [4, 4], hosts-per-switch: 2", "rows and columns are rings; 3 dimensions: [4, 4, 4]"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"size: [{}, {}], date-lines: false, {}", draw.between(2, 4), draw.between(2, 3), drawn_direct_keys(draw)};
          },
          .drawn_percent = 3};
}

}  // namespace railyard::spec
