// A condition on what a run measured (condition.h), as a fabric file or the command line has it.
#pragma once

#include <string>

#include "control/spec/place.h"

namespace railyard::spec {

struct ConditionSpec {
  std::string text;  // "busbw >= 380Gbps"
  Place place;

  bool operator==(const ConditionSpec&) const = default;
};

}  // namespace railyard::spec
