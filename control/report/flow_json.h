// A flow as JSON, as in report.json.
#pragma once

#include <nlohmann/json.hpp>

#include "control/report/report.h"

namespace railyard::report {

nlohmann::ordered_json flow_json(const FlowReport& flow, const Budgets& budgets);

}  // namespace railyard::report
