// A small fabric to hunt in.
#pragma once

#include "control/spec/load.h"

namespace railyard::hunt {

inline spec::Lab hunt_lab(const std::vector<std::string>& sets = {}) {
  return spec::parse(R"(
name: lab
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }
qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: auto }, 6: { strict: true } } } }
traffic:
  - { name: t, pattern: permutation, transport: roce, message: 64KiB, bytes: 1MiB }
)",
                     "lab.yaml", sets);
}

}  // namespace railyard::hunt
