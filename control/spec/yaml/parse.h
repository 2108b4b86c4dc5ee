// YAML text to a tree. The only part of Railyard that knows the YAML library.
#pragma once

#include <string>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// One document. Throws SpecError for what is not YAML, with line and column, and for what YAML allows and nobody needs:
// several documents, maps as keys, tags of one's own, an anchor inside itself. No text at all is kNothing. The paths
// are not written yet: finish() does that.
Tree parse_yaml(const std::string& text, const std::string& file);

}  // namespace railyard::spec
