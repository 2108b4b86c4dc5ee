// When NICs of twice the rate are worth it: each trigger with its arithmetic.
#pragma once

#include <string>
#include <vector>

#include "control/plan/nics.h"
#include "control/plan/sizing.h"

namespace railyard::plan {

struct Trigger {
  std::string what;
  std::string formula;
  std::string result;
  std::string threshold;  // in words: "above 10 %"
  bool reached = false;
};

// Of the step from the NIC rate of the request to twice that: communication that cannot be hidden, what a slot carries,
// how many switches the faster fabric takes with the same chips. Thresholds are our choice.
std::vector<Trigger> step_up_triggers(const Request& request, const Shape& shape, const SwitchChoice& chosen);

}  // namespace railyard::plan
