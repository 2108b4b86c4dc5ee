// Graphs as GOAL.
#pragma once

#include <string>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// Text that read_goal() makes the same graph of, but for the numbers of lines, and times in whole nanoseconds (rounded to
// the nearest). Labels are kept where GOAL can have them: words, each once in a rank; else operations that others wait
// for are called o<number>. `graph` has no collectives (expanded()).
std::string write_goal(const JobGraph& graph);

}  // namespace railyard::jobs
