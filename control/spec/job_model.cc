#include "control/spec/job_model.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/yaml/parse.h"

namespace railyard::spec {
namespace {

jobs::Model from_text(const std::string& text, const std::string& file, const std::string& name) {
  jobs::Model model;
  model_keys().read(parse_yaml(text, file), model);
  model.name = name;
  return model;
}

}  // namespace

jobs::Model read_model(const Tree& said) {
  const std::string& text = said.as_text("the name of a model, the path of a file, or a map");
  if (text.find('/') != text.npos || text.ends_with(".yaml")) {
    const std::string path = file_path(4095).read(said);
    std::string contents;
    try {
      contents = read_file(path);
    } catch (const SpecError& e) {
      said.fail(fmt::format("{} {}", path, e.message()));
    }
    return from_text(contents, path, std::filesystem::path(path).stem());
  }
  std::vector<std::string> names;
  for (const ModelFile& f : model_files()) {
    if (f.name == text) return from_text(std::string(f.text), fmt::format("models/{}.yaml", f.name), text);
    names.emplace_back(f.name);
  }
  const std::string guess = did_you_mean(text, names);
  said.fail(fmt::format("there is no model '{}'{} Known here: {}; or the path of a file", text, guess.empty() ? "." : guess,
                        fmt::join(names, ", ")));
}

}  // namespace railyard::spec
