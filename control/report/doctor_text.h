// What `railyard doctor` finds in a report, in few lines.
#pragma once

#include <string>
#include <vector>

#include "control/doctor/rule.h"
#include "control/report/report.h"

namespace railyard::report {

// The surest first; none: nothing was found. `rest`: what else there is in the report, as JSON
// (Report::value_without_ports()), which costs time to build.
std::vector<doctor::Found> findings(const Report& report, nlohmann::ordered_json rest);
std::vector<doctor::Found> findings(const Report& report);

// For the text of a run: up to three lines; empty if nothing was found.
std::string doctor_text(const std::vector<doctor::Found>& found);

// Report::text() with what was found already.
std::string text_of(const Report& report, const std::vector<doctor::Found>& causes);

}  // namespace railyard::report
