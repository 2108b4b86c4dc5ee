// Memory of the process of a run over wall time: KPIs of T12.2, from one report.
#pragma once

#include <optional>
#include <string>

#include "control/acceptance/soak.h"
#include "control/bench/kpi_parts.h"

namespace railyard::bench {

// A line by least squares through the resident sets of the second half of the run: in the first one pools and tables fill.
// Nothing: fewer than 5 samples there.
std::optional<acceptance::Growth> memory_growth(const ReportJson& report);
// The resident set, bytes, or the open files when this share of the run's wall time had gone by: "0/24" to "24/24". Nothing:
// there are no samples.
std::optional<double> memory_at(const ReportJson& report, const std::string& share);
std::optional<double> open_files_grown(const ReportJson& report);
// What is wrong with a share; empty: nothing.
std::string problem_of_share(const std::string& share);

}  // namespace railyard::bench
