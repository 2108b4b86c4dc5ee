#include "tools/railyard/live.h"

#include <csignal>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/api/http_client.h"
#include "control/spec/suggest.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

using daemon::LabDir;

LabDir chosen_lab(const std::string& said) {
  std::vector<std::string> up;
  for (const std::string& name : LabDir::names())
    if (LabDir(name).running()) up.push_back(name);
  if (!said.empty()) {
    LabDir lab(said);
    if (lab.running()) return lab;
    if (lab.exists())
      throw std::runtime_error(
          fmt::format("lab '{0}' is dead: its daemon{1} ended without cleaning up; `railyard down {0}` does", said,
                      lab.pid() > 0 ? fmt::format(" (PID {})", lab.pid()) : ""));
    if (up.empty()) throw std::runtime_error(fmt::format("no lab '{}' is up; `railyard up SPEC` starts one", said));
    throw std::runtime_error(fmt::format("no lab '{}' is up{}", said, spec::meant_or_known(said, up)));
  }
  if (up.empty()) {
    const std::vector<std::string> dead = LabDir::names();
    if (dead.size() == 1) return chosen_lab(dead[0]);
    throw std::runtime_error("no lab is up; `railyard up SPEC` starts one");
  }
  if (up.size() > 1)
    throw std::runtime_error(
        fmt::format("several labs are up: {}; choose one with --lab or {}", fmt::join(up, ", "), kLabVariable));
  return LabDir(up[0]);
}

CLI::Option* add_lab_option(CLI::App& command, std::string& said) {
  return command.add_option("-l,--lab", said, "Name of the live lab; needed if there are several")
      ->type_name("NAME")
      ->envname(kLabVariable);
}

namespace {

std::string why_silent(const LabDir& lab, const std::string& error) {
  const pid_t pid = lab.pid();
  if (!lab.running())
    return fmt::format("lab '{0}' is dead: its daemon{1} ended without cleaning up; `railyard down {0}` does",
                       lab.name(), pid > 0 ? fmt::format(" (PID {})", pid) : "");
  if (pid > 0 && ::kill(pid, 0) == 0)
    return fmt::format(
        "lab '{0}' is hung: railyardd (PID {1}) is alive and does not answer ({2}); `kill -KILL {1}` ends it, then "
        "`railyard down {0}` cleans up",
        lab.name(), pid, error);
  return fmt::format("lab '{}' does not answer: {}", lab.name(), error);
}

}  // namespace

nlohmann::json ask(const LabDir& lab, const std::string& method, const std::string& target, const nlohmann::json& body,
                   std::chrono::milliseconds patience) {
  try {
    return api::ask(lab.socket(), {method, target, body}, patience);
  } catch (const api::Unreachable& error) {
    throw std::runtime_error(why_silent(lab, error.what()));
  }
}

}  // namespace railyard::tools
