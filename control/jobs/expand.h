// Collectives of a graph as what they consist of.
#pragma once

#include "control/jobs/compile.h"
#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// The same graph with each collective as sends and receives, as compile() would plan it: what a rank passes on or adds
// to its own waits for what it has received. Computing of 0 ns begins and ends its part at each rank. Its messages
// have tags that the graph does not use. The result has no collectives and no communicators, and check() has no objection to it
// if it had none to `graph`.
JobGraph expanded(const JobGraph& graph, const CompileOptions& options);

}  // namespace railyard::jobs
