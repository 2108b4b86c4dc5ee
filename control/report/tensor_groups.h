// Whether the messages of a job's tensor parallelism leave hosts.
#pragma once

#include "control/report/job_figures.h"
#include "control/spec/spec.h"

namespace railyard::report {

// Adds the volume "tp_across_hosts" behind "tp" to the figures of a training job: what the rank that sends most of it sends in
// a step in tensor-parallel groups that span hosts which share no scale-up network. Adds nothing if there is no such group.
void add_tensor_across_hosts(JobFigures& figures, const spec::Lab& lab, const spec::CollectiveSpec& job);

}  // namespace railyard::report
