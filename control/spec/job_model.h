// `model: llama-70b`: the models that we ship (topologies/models/), or one in a file of the user's own.
#pragma once

#include "control/jobs/model.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// The model of a name, or of a file, which is meant from the folder of the file that says it. What is wrong in such a file
// is reported as of there. Throws SpecError.
jobs::Model read_model(const Tree& said);

}  // namespace railyard::spec
