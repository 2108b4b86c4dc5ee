// The runs of railyard bench.
#pragma once

#include <filesystem>

#include "control/base/exit_code.h"
#include "control/bench/cost.h"
#include "control/bench/result.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {

// Runs all cases of a clause with all seeds, and computes their KPIs. A trial that fails
// is excluded, and the others stand. Returns the worst of the failures.
ExitCode run_clause(bench::ClauseResult& result, const HowToRun& how);

// The speed of this machine by one short run of `pilot`, a file with bench::pilot_lab().
bench::Speed measured_speed(const std::filesystem::path& pilot);

}  // namespace railyard::tools
