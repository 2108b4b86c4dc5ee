// Presets: topologies by a few numbers. Each makes the nodes and links that could have been written one by one.
//
// To add one: a source with its keys and its expand function, and a line in preset.cc.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct Preset {
  std::string name;
  // Appends to `lab`'s nodes and links. `topology` is the map of that name; links are like `link` where it says
  // nothing.
  void (*expand)(const Tree& topology, const LinkSpec& link, Lab& lab);
  Tree (*schema)();
};

const std::vector<Preset>& presets();

// Expands the preset that `topology` names.
void expand_preset(const Tree& topology, const LinkSpec& link, Lab& lab);

// One of the presets' keys.
Tree preset_schema();

}  // namespace railyard::spec
