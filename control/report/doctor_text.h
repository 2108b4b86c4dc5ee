// What `railyard doctor` finds in a report, in few lines.
#pragma once

#include <string>
#include <vector>

#include "control/doctor/rule.h"
#include "control/report/report.h"

namespace railyard::report {

// The surest first; none: nothing was found.
std::vector<doctor::Found> findings(const Report& report);

// For the text of a run: up to three lines; empty if nothing was found.
std::string doctor_text(const Report& report);

}  // namespace railyard::report
