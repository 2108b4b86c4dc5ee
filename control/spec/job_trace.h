// A job of a fabric file as a trace: its schedule, to be edited and run again.
#pragma once

#include "control/jobs/compile.h"
#include "control/spec/spec.h"

namespace railyard::spec {

// An ordinary step of a job of training: without checkpoints and failures, and without the steps
// that follow them. Ranks that store are the last ones.
jobs::JobGraph ordinary_step(const CollectiveSpec& job);

// With what a run plans the job's collectives: expanded() makes of them the messages that it sends. Throws InputError: switches
// reduce for the job, which no trace can say.
jobs::CompileOptions trace_options(const Lab& lab, const CollectiveSpec& job);

}  // namespace railyard::spec
