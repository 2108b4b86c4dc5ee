// Presets: topologies by a few numbers. Each makes the nodes and links that could have been written one by one. Keys,
// schema, errors, the reference in explicit.yaml and random labs follow from the list in preset.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/spec/draw.h"
#include "control/spec/reference.h"
#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct Preset {
  std::string name;
  std::string summary;  // one sentence for people who choose
  // Appends to `lab`'s nodes and links; hosts are h1, h2, ... `topology` is the map of that name; links are like `link`
  // where it says nothing.
  void (*expand)(const Tree& topology, const LinkSpec& link, Lab& lab);
  Tree (*schema)();
  // Examples of its keys beside `preset`, and what they make.
  std::vector<ReferenceLine> reference;
  // Its keys as the random tester draws them: some 4 to 20 hosts, and switches with the profiles "default" and "other".
  std::string (*draw)(Draw& draw);
  // Of a hundred random labs, so many have it. All presets together leave some to labs without one.
  unsigned drawn_percent;
};

const std::vector<Preset>& presets();

// Expands the preset that `topology` names.
void expand_preset(const Tree& topology, const LinkSpec& link, Lab& lab);

// One of the presets' keys.
Tree preset_schema();

// The lines of topologies/explicit.yaml that name all presets.
std::string preset_reference();

}  // namespace railyard::spec
