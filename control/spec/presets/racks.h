// Which rack the nodes of a preset stand in.
#pragma once

#include <cstddef>

#include "control/spec/keys/keys.h"
#include "control/spec/presets/lab_maker.h"
#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

inline constexpr const char* kHostsPerRack = "hosts-per-rack";

// The key of every preset's table. assign_racks() reads it, when the nodes are there.
template <class T>
Key<T> racks_key() {
  const Form<int> form = integer(1, kMostHosts);
  return Key<T>{kHostsPerRack,
                "hosts per rack (default: all hosts of a leaf, with their leaves)",
                [form](const Tree& tree, T&) { form.read(tree); },
                [](const T&) { return Tree{}; },
                [](const T&, const T&) { return true; },
                form.schema};
}

// Racks rack1, rack2, ... for the nodes of `lab` from `first` on: hosts in their order, those of the same leaves
// together, at most `hosts-per-rack` in each. Leaves stand in the racks of their hosts, in turn; other switches in none.
void assign_racks(const Tree& topology, std::size_t first, Lab& lab);

}  // namespace railyard::spec
