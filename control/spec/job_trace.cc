#include "control/spec/job_trace.h"

#include <fmt/format.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/input_error.h"

namespace railyard::spec {

jobs::JobGraph ordinary_step(const CollectiveSpec& job) {
  const jobs::JobGraph& graph = *job.traced.graph;
  return graph.occasions.size() == 1 ? graph : jobs::of_repeat(graph, graph.ordinary(static_cast<std::uint32_t>(job.repeats)));
}

jobs::CompileOptions trace_options(const Lab& lab, const CollectiveSpec& job) {
  if (is_in_switches(job))
    throw InputError(fmt::format("{}.algorithm: in-network: a trace has no switches that reduce; expected another algorithm", job.path()));
  return compile_options(lab, job, ranks(lab, job));
}

}  // namespace railyard::spec
