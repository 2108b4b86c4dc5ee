// Messages as fluid: the model behind estimates (estimate.h).
#pragma once

#include <expected>
#include <string>

#include "control/estimate/estimate.h"
#include "control/spec/spec.h"

namespace railyard::estimate {

// One repeat of all that a lab's collectives and jobs do, as messages that are fluid. Error: as of estimate().
std::expected<Estimate, std::string> fluid(const spec::Lab& lab);

}  // namespace railyard::estimate
