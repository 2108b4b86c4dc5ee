// Whether two runs were of the same lab.
#pragma once

#include <string>

#include "control/spec/spec.h"

namespace railyard::spec {

// Of what a lab says, not of how: 16 hexadecimal digits, equal for equal labs, whatever their seed, workers, budgets,
// expectations and comparisons. Files by their contents and names, wherever they are. A report has it as
// run.lab_digest.
std::string lab_digest(Lab lab);

}  // namespace railyard::spec
