// Switches in a grid, along each dimension of which all are linked to each other: the flattened butterfly, k-ary n-flat
// (Kim, Dally & Abts, "Flattened Butterfly: A Cost-Efficient Topology for High-Radix Networks", ISCA 2007; as generalised
// in HyperX). Ports: hosts, then for each dimension the other switches along it. Routing goes along one dimension after
// the other, one hop each: no deadlock is possible.
#include <fmt/format.h>

#include "control/spec/presets/direct.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct FlattenedButterfly : Direct {
  std::vector<int> size;
};

const Table<FlattenedButterfly>& flattened_butterfly_keys() {
  static const Table<FlattenedButterfly> table = [] {
    std::vector<Key<FlattenedButterfly>> keys{
        preset_key<FlattenedButterfly>("flattened-butterfly"),
        key("size", &FlattenedButterfly::size, grid_size(),
            "switches along each dimension: [4, 4] is the 4-ary 3-flat with 4 hosts per switch")
            .require(),
        hosts_per_switch_key<FlattenedButterfly>()};
    for (Key<FlattenedButterfly>& key : direct_keys<FlattenedButterfly>()) keys.push_back(std::move(key));
    return Table<FlattenedButterfly>{
        "flattened-butterfly", "Switches in a grid whose rows and columns are full meshes: s1.., h1..", std::move(keys)};
  }();
  return table;
}

void expand_flattened_butterfly(const Tree& topology, const LinkSpec& link, Lab& lab) {
  FlattenedButterfly said;
  flattened_butterfly_keys().read(topology, said);
  std::vector<GridDimension> grid;
  for (const int size : said.size) grid.push_back({size, false});
  expand_grid(topology, said, link, grid, false, lab);
}

}  // namespace

Preset flattened_butterfly() {
  return {.name = "flattened-butterfly",
          .summary = "A grid whose rows and columns are full meshes: at most one hop per dimension (HyperX).",
          .expand = expand_flattened_butterfly,
          .schema = [] { return flattened_butterfly_keys().schema(); },
          .reference = {{"size: [4, 4], hosts-per-switch: 4", "rows and columns are full meshes"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"size: [{}, {}], {}", draw.between(2, 3), draw.between(2, 3), drawn_direct_keys(draw)};
          },
          .drawn_percent = 2};
}

}  // namespace railyard::spec
