// What is wrong with a trace of several files.
#pragma once

#include <string>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

struct TraceFileError : TraceError {
  std::string file{};  // which; empty: the one that was asked for
};

}  // namespace railyard::jobs
