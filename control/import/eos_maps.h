// The global maps of EOS: code point → traffic class → tx-queue.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "control/import/running_config.h"

namespace railyard::importing {

struct EosMaps {
  std::array<int, 64> traffic_class_of_dscp{};
  std::array<int, 8> traffic_class_of_cos{};
  std::array<int, 8> queue_of_traffic_class{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<std::string> sources;
};

// `qos map dscp|cos|traffic-class`. What they do not list is as EOS has it: DSCP 0-7 and CoS 0 are traffic class 1, 8-15
// and CoS 1 are 0, others are DSCP / 8 and the CoS. Throws SpecError for numbers out of range.
EosMaps read_eos_maps(const RunningConfig& config);

}  // namespace railyard::importing
