// A timeline as report.json has it.
#pragma once

#include <nlohmann/json.hpp>

#include "control/report/timeline_report.h"

namespace railyard::report {

// Iterations by rank are left out where they would be more than 100,000 figures.
nlohmann::ordered_json timeline_json(const TimelineReport& timeline);

}  // namespace railyard::report
