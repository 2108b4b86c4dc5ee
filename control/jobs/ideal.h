// How long a job takes if only computing takes time.
#pragma once

#include <vector>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// Messages and collectives are done as soon as all their ranks have started them. What is left is computing, and waiting for
// each other: the bubble of a pipeline. `slowness`: as CompileOptions::slowness. `matches`: of check().
Duration ideal_time(const JobGraph& graph, const Matches& matches, const std::vector<double>& slowness = {});

}  // namespace railyard::jobs
