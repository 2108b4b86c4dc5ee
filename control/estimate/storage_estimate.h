// What checkpoints and failures of a job cost, by estimates of the steps that have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "control/jobs/job_graph.h"
#include "control/report/storage_figures.h"
#include "control/spec/spec.h"

namespace railyard::estimate {

// What a job does in one of its steps is all that it does. `whole`: what it does in all of them.
void take_step(spec::CollectiveSpec& job, const jobs::JobGraph& whole, std::uint32_t step);

// A job's storage, by estimates of its ordinary step, of one that writes a checkpoint and one that reads one, each in every era
// (`traced`: what the job does in all of its steps). Nothing: it stores nothing, and no rank of it fails. Error: as of
// estimate().
std::expected<std::optional<report::StorageFigures>, std::string> storage_of(const spec::Lab& lab, std::size_t job,
                                                                             const spec::TraceSpec& traced);

}  // namespace railyard::estimate
