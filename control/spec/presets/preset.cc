#include "control/spec/presets/preset.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/spec/keys/definitions.h"
#include "control/spec/keys/form.h"
#include "control/spec/presets/racks.h"

namespace railyard::spec {

// Each in the file of its name.
Preset leaf_spine();
Preset rail_optimized();
Preset fat_tree();
Preset multi_pod();
Preset torus();
Preset ring();
Preset full_mesh();
Preset flattened_butterfly();
Preset tree();
Preset dragonfly();
Preset dragonfly_plus();

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{leaf_spine(), rail_optimized(), fat_tree(), multi_pod(), torus(), ring(),
                                       full_mesh(), flattened_butterfly(), tree(), dragonfly(), dragonfly_plus()};
  return all;
}

void expand_preset(const Tree& topology, const LinkSpec& link, Lab& lab) {
  topology.as_map("a map with the key 'preset'");
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  const Tree* chosen = topology.find("preset");
  if (chosen == nullptr) topology.fail(fmt::format("key 'preset' is missing: one of {}", fmt::join(names, ", ")));
  const auto preset = std::ranges::find(presets(), chosen->text, &Preset::name);
  if (chosen->kind != Tree::Kind::kScalar || preset == presets().end()) fail_choice(*chosen, names);
  const std::size_t first = lab.nodes.size();
  preset->expand(topology, link, lab);
  assign_racks(topology, first, lab);
}

Tree preset_schema() {
  std::vector<Tree> schemas;
  for (const Preset& preset : presets()) schemas.push_back(reference(preset.name));
  return any_of_schemas(std::move(schemas));
}

std::string preset_reference() {
  std::string text;
  for (const Preset& preset : presets())
    for (const ReferenceLine& line : preset.reference)
      text += reference_line(fmt::format("{{ preset: {}, {} }}", preset.name, line.value), line.text, 0);
  return text;
}

}  // namespace railyard::spec
