#include "control/spec/job_model.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/load.h"
#include "control/spec/shipped.h"
#include "control/spec/spec_error.h"
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
  if (names_own_file(text)) {
    const std::string path = file_path(4095).read(said);
    std::string contents;
    try {
      contents = read_file(path);
    } catch (const SpecError& e) {
      said.fail(fmt::format("{} {}", path, e.message()));
    }
    return from_text(contents, path, std::filesystem::path(path).stem());
  }
  const ShippedFile& file = shipped_file(said, model_files(), "model");
  return from_text(std::string(file.text), fmt::format("models/{}.yaml", file.name), text);
}

}  // namespace railyard::spec
