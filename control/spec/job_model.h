// `model: llama-70b`: the models that we ship (topologies/models/), or one in a file of the user's own.
#pragma once

#include <string_view>
#include <vector>

#include "control/jobs/model.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct ModelFile {
  std::string_view name;  // "llama-70b"
  std::string_view text;  // YAML: keys of a model
};

// Those that are compiled in, by name.
const std::vector<ModelFile>& model_files();

// The model of a name, or of a file: a value with a '/' in it or ending in .yaml, which is meant from the folder of the file
// that says it. What is wrong in such a file is reported as of there. Throws SpecError.
jobs::Model read_model(const Tree& said);

}  // namespace railyard::spec
