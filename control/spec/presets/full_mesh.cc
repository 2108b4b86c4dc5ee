// Every switch is linked to every other. Ports: hosts, then the other switches by number.
#include "control/spec/presets/direct.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct FullMesh : Direct {
  int switches = 0;
};

const Table<FullMesh>& full_mesh_keys() {
  static const Table<FullMesh> table = [] {
    std::vector<Key<FullMesh>> keys{
        preset_key<FullMesh>("full-mesh"),
        key("switches", &FullMesh::switches, integer(2, kMostSwitches), "number of switches").require(),
        hosts_per_switch_key<FullMesh>()};
    for (Key<FullMesh>& key : direct_keys<FullMesh>()) keys.push_back(std::move(key));
    return Table<FullMesh>{"full-mesh", "Switches that are all linked to each other: s1.., h1..", std::move(keys)};
  }();
  return table;
}

void expand_full_mesh(const Tree& topology, const LinkSpec& link, Lab& lab) {
  FullMesh said;
  full_mesh_keys().read(topology, said);
  expand_grid(topology, said, link, {{said.switches, false}}, false, lab);
}

}  // namespace

Preset full_mesh() {
  return {.name = "full-mesh",
          .summary = "Every switch is linked to every other: one hop, and a single link between any two.",
          .expand = expand_full_mesh,
          .schema = [] { return full_mesh_keys().schema(); },
          .reference = {{"switches: 4, hosts-per-switch: 4", "a link between any two switches"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"switches: {}, {}", draw.between(3, 5), drawn_direct_keys(draw)};
          },
          .drawn_percent = 2};
}

}  // namespace railyard::spec
