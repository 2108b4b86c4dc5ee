// A tree to text: YAML for people, JSON for programs.
#pragma once

#include <string>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// parse_yaml() reads the same tree from it. A map or list stands on one line if it fits in 120 columns and nobody asked
// for it to be spread.
std::string print_yaml(const Tree& tree);

// The same on one line, however long.
std::string print_yaml_line(const Tree& tree);

// Plain scalars that JSON knows (numbers, true, false) are printed as such, all others as strings.
std::string print_json(const Tree& tree);

}  // namespace railyard::spec
