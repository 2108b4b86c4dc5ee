// A collective as report.json has it.
#pragma once

#include <nlohmann/json.hpp>

#include "control/report/collective_report.h"

namespace railyard::report {

nlohmann::ordered_json collective_json(const CollectiveReport& collective);

}  // namespace railyard::report
