#include "tools/railyard/live.h"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/api/http_client.h"

namespace railyard::tools {

using daemon::LabDir;

LabDir chosen_lab(const std::string& said) {
  std::vector<std::string> up;
  for (const std::string& name : LabDir::names())
    if (LabDir(name).running()) up.push_back(name);
  if (!said.empty()) {
    LabDir lab(said);
    if (!lab.running())
      throw std::runtime_error(up.empty() ? fmt::format("no lab '{}' is up; `railyard up SPEC` brings one up", said)
                                          : fmt::format("no lab '{}' is up; up are: {}", said, fmt::join(up, ", ")));
    return lab;
  }
  if (up.empty()) throw std::runtime_error("no lab is up; `railyard up SPEC` brings one up");
  if (up.size() > 1)
    throw std::runtime_error(fmt::format("several labs are up; say which with --lab: {}", fmt::join(up, ", ")));
  return LabDir(up[0]);
}

void add_lab_option(CLI::App& command, std::string& said) {
  command.add_option("--lab", said, "Which lab, if several are up")->type_name("NAME");
}

nlohmann::json ask(const LabDir& lab, const std::string& method, const std::string& target,
                   const nlohmann::json& body) {
  try {
    return api::ask(lab.socket(), {method, target, body});
  } catch (const api::Unreachable& error) {
    throw std::runtime_error(fmt::format("lab '{}' does not answer: {}", lab.name(), error.what()));
  }
}

}  // namespace railyard::tools
