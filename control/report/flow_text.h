// Flows for people: one line each.
#pragma once

#include <string>
#include <vector>

#include "control/report/report.h"

namespace railyard::report {

std::string flow_text(const std::vector<FlowReport>& flows);

}  // namespace railyard::report
