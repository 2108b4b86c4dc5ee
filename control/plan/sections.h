// Sections of a plan's text that have a file of their own.
#pragma once

#include "control/plan/arithmetic.h"

namespace railyard::plan {

struct Plan;

Section buffer_section(const Plan& plan);

}  // namespace railyard::plan
