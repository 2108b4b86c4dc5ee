// An inference job's figures as report.json and estimates have them.
#pragma once

#include <nlohmann/json.hpp>

#include "control/report/inference_figures.h"

namespace railyard::report {

nlohmann::ordered_json inference_json(const InferenceFigures& figures);

}  // namespace railyard::report
