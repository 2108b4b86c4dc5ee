// A lab on its way: what has been read, beside where it was said, so that checks between its parts can point there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/spec/keys/keys.h"
#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct Draft {
  Lab lab;
  const Tree* document = nullptr;
  Sections sections;
  // For each node, link, traffic, collective and fault of `lab`: the tree that says it. What a preset made was said by
  // `topology`.
  std::vector<const Tree*> nodes;
  std::vector<const Tree*> links;
  std::vector<const Tree*> traffic;
  std::vector<const Tree*> collectives;
  std::vector<const Tree*> faults;
  std::unordered_map<std::string, std::size_t> node_index;  // by name

  // Index of a node in lab.nodes; fails at `where` for a name that is none.
  std::size_t node(const std::string& name, const Tree& where) const;
};

}  // namespace railyard::spec
