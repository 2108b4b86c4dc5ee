// Lossless classes by steps, for fabrics with circles of links: frames go one class up where they cross a date line, and
// so no buffer waits for itself in the end (virtual channels of Dally & Seitz, IEEE Trans. Comput. 1987, as classes).
#pragma once

#include <array>
#include <string>

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"
#include "dataplane/base/ids.h"

namespace railyard::spec {

class ClassLadder {
 public:
  // Each lossless class of the switches' QoS profile gets `steps` more that are like it, at the hosts as well: classes
  // without settings of their own, the next higher ones first. 0: none. What hosts send in the last class of a ladder
  // becomes lossy at one more step. Fails at `topology` where there are too few; `without`: the key to do without.
  ClassLadder(const Tree& topology, Lab& lab, const std::string& switch_profile, const std::string& host_profile,
              int steps, const std::string& without);

  // What leaves `node` by `port` (from 1) goes one step up.
  void step_up(NodeSpec& node, int port) const;

 private:
  std::array<int, kPriorities> up_;  // by class; -1: it is on no ladder
};

}  // namespace railyard::spec
