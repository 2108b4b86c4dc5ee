// An incast under one leaf: RoCE with marks and PFC.
#pragma once

#include <string>
#include <vector>

#include "control/spec/load.h"

namespace railyard::tune {

inline spec::Lab small_lab(const std::vector<std::string>& sets = {}) {
  return spec::parse(R"(
name: small
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 5 }
qos:
  default:
    classes:
      3: { lossless: true, alpha: 1/8, ecn: { kmin: 400KB, kmax: 1600KB, pmax: 20%, mark: dequeue } }
traffic:
  - { name: incast, pattern: incast, from: h*, to: h1, transport: roce, message: 100KB, bytes: 1MB }
)",
                     "small.yaml", sets);
}

}  // namespace railyard::tune
