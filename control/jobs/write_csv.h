// Graphs as a table for programs.
#pragma once

#include <string>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// One row an operation, the first line names the columns (RFC 4180): rank, operation (number in the rank), kind (compute,
// send, receive, or the collective's name), label, peer, tag, bytes, time_ns, stream, ranks (of a collective, in their
// order), collective (number), after, with. Lists have blanks between their numbers; what does not apply is empty.
std::string write_csv(const JobGraph& graph);

}  // namespace railyard::jobs
