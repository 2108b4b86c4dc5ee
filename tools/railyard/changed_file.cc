#include "tools/railyard/changed_file.h"

#include <sstream>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "control/spec/yaml/print.h"

namespace railyard::tools {
namespace {

bool reads_as(const std::string& text, const spec::Lab& lab) {
  try {
    // A name in no folder: nothing beside it can be found.
    return spec::parse(text, "/nowhere/changed.yaml") == lab;
  } catch (const spec::SpecError&) {
    return false;
  }
}

std::string as_comment(const std::string& heading) {
  std::string out;
  std::istringstream lines(heading);
  for (std::string line; std::getline(lines, line);) out += line.empty() ? "#\n" : "# " + line + "\n";
  return out;
}

}  // namespace

std::string changed_file(const std::string& file, const std::vector<std::string>& sets, const std::string& heading) {
  const spec::LabAndDocument read = spec::load_with_document(file, sets);
  const std::string text = spec::print_yaml(read.document);
  return as_comment(heading) + (reads_as(text, read.lab) ? text : spec::to_yaml(read.lab));
}

}  // namespace railyard::tools
