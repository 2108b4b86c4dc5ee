// Switches in a ring: s1 - s2 - ... - s1. Ports: hosts, then up and down.
#include "control/spec/presets/direct.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct Ring : Direct {
  int switches = 0;
  bool date_lines = true;
};

const Table<Ring>& ring_keys() {
  static const Table<Ring> table = [] {
    std::vector<Key<Ring>> keys{
        preset_key<Ring>("ring"),
        key("switches", &Ring::switches, integer(2, kMostSwitches), "number of switches").require(),
        hosts_per_switch_key<Ring>(),
        date_lines_key(&Ring::date_lines)};
    for (Key<Ring>& key : direct_keys<Ring>()) keys.push_back(std::move(key));
    return Table<Ring>{"ring", "Switches in a ring: s1.., h1..", std::move(keys)};
  }();
  return table;
}

void expand_ring(const Tree& topology, const LinkSpec& link, Lab& lab) {
  Ring said;
  ring_keys().read(topology, said);
  expand_grid(topology, said, link, {{said.switches, true}}, said.date_lines, lab);
}

}  // namespace

Preset ring() {
  return {.name = "ring",
          .summary = "A ring of switches: two links each, and paths of up to half of the ring.",
          .expand = expand_ring,
          .schema = [] { return ring_keys().schema(); },
          .reference = {{"switches: 6, hosts-per-switch: 2", "a ring"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"switches: {}, date-lines: false, {}", draw.between(3, 6), drawn_direct_keys(draw)};
          },
          .drawn_percent = 0};
}

}  // namespace railyard::spec
