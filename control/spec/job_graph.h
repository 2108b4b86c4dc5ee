// What the ranks of a job of a fabric file do.
#pragma once

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// Fills in what follows from the job's keys and its ranks: its training, and its graph. `said`: the tree that says it.
// Throws SpecError if the model, the parallelism and the ranks do not fit together.
void make_job_graph(const Lab& lab, CollectiveSpec& job, const Tree& said);

}  // namespace railyard::spec
