// Flows over RoCE, for people.
#pragma once

#include <string>
#include <vector>

#include "control/report/report.h"

namespace railyard::report {

// What became of their messages, what had to be sent again and why, who was told to slow down; and of flows whose QP is
// in error, why. Empty without such flows.
std::string roce_text(const std::vector<FlowReport>& flows);

}  // namespace railyard::report
