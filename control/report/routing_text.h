// What routing did, for people (docs/metrics.md, "reroutings").
#pragma once

#include <string>

#include "control/report/report.h"

namespace railyard::report {

// Nothing if links have stayed as they were.
std::string routing_text(const Report& report);

}  // namespace railyard::report
