// The flows of a report as a table for programs.
#pragma once

#include <string>
#include <vector>

#include "control/report/report.h"

namespace railyard::report {

// One row a flow, the first line names the columns: all that report.json has of a flow, by the same names; parts of a
// part are joined by dots ("latency_ns.p99", "roce.cnp_sent"). What a flow does not have is empty. RFC 4180. The columns
// are always flow_columns().
std::string flow_csv(const Report& report);
std::vector<std::string> flow_columns();

// A value as RFC 4180 wants it: in quotes where it has a comma, a quote or a line break.
std::string csv_field(const std::string& text);

}  // namespace railyard::report
