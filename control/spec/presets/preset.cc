#include "control/spec/presets/preset.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/spec/keys/definitions.h"
#include "control/spec/keys/form.h"
#include "control/spec/presets/fat_tree.h"
#include "control/spec/presets/leaf_spine.h"
#include "control/spec/presets/rail_optimized.h"

namespace railyard::spec {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{leaf_spine(), rail_optimized(), fat_tree()};
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
  preset->expand(topology, link, lab);
}

Tree preset_schema() {
  std::vector<Tree> schemas;
  for (const Preset& preset : presets()) schemas.push_back(reference(preset.name));
  return any_of_schemas(std::move(schemas));
}

}  // namespace railyard::spec
