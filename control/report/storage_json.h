// What of a job's storage reports and estimates have alike.
#pragma once

#include <nlohmann/json.hpp>

#include "control/report/storage_figures.h"

namespace railyard::report {

// Of a job that shrinks: by era its first step, steps, copies, ordinary step and tokens/s. Of others an empty list.
nlohmann::ordered_json eras_json(const StorageFigures& figures);

}  // namespace railyard::report
