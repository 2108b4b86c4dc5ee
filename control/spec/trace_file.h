// What the ranks of a job do, as a file says it.
#pragma once

#include <string>

#include "control/spec/collective_spec.h"

namespace railyard::spec {

// A trace in any format that is known (control/jobs/read_trace.h). Throws SpecError with the line of that file; also if it cannot be read, or its
// messages and dependencies do not fit together (jobs::check()).
TraceSpec read_trace_file(const std::string& file);

}  // namespace railyard::spec
