// `asic: tomahawk5-64x800`: a switch profile that begins as one of the ASICs we ship (topologies/profiles/), or as one
// in a file of the user's own.
#pragma once

#include <string_view>
#include <vector>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct AsicProfile {
  std::string_view name;  // "tomahawk5-64x800"
  std::string_view text;  // YAML: keys of a switch profile
};

// Those that are compiled in, by name.
const std::vector<AsicProfile>& asic_profiles();

// Replaces `asic` in each switch profile of the document by the keys that it stands for. Keys that are said beside it
// win. A value with a '/' in it or ending in .yaml is a file: meant from the folder of the file that says it, or, in a
// --set, from where the command runs. What is wrong in such a file is reported as of there. Throws SpecError.
void expand_asics(Tree& document);

}  // namespace railyard::spec
