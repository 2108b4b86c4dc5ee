// In-band telemetry as JSON and as text, for reports and for labs that are up.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "control/telemetry/int_report.h"

namespace railyard::report {

nlohmann::ordered_json int_json(const telemetry::IntReport& report);

// For people: how many, the queues in which they waited longest, and the slowest of them hop by hop.
std::string int_text(const telemetry::IntReport& report);

}  // namespace railyard::report
