#include "tools/railyard/live.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/api/http_client.h"
#include "control/front/site_record.h"
#include "control/spec/suggest.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

using daemon::LabDir;

LabDir chosen_lab(const std::string& said) {
  std::vector<std::string> up;
  for (const std::string& name : LabDir::names())
    if (LabDir(name).running()) up.push_back(name);
  // Its sites' parts are named where they are meant.
  if (said.empty())
    for (const std::string& name : std::vector(up))
      if (const auto record = front::read_record(LabDir(name)))
        for (const front::RecordedSite& site : record->sites) std::erase(up, site.lab);
  if (!said.empty()) {
    LabDir lab(said);
    if (lab.running()) return lab;
    if (lab.exists())
      throw std::runtime_error(
          fmt::format("lab '{0}' is dead: its daemon{1} ended without cleaning up; `railyard down {0}` cleans up", said,
                      lab.pid() > 0 ? fmt::format(" (PID {})", lab.pid()) : ""));
    if (up.empty()) throw std::runtime_error(fmt::format("no running lab '{}'; `railyard up SPEC` starts one", said));
    throw std::runtime_error(fmt::format("no running lab '{}'{}", said, spec::meant_or_known(said, up)));
  }
  if (up.empty()) {
    const std::vector<std::string> dead = LabDir::names();
    if (dead.size() == 1) return chosen_lab(dead[0]);
    throw std::runtime_error("no running lab; `railyard up SPEC` starts one");
  }
  if (up.size() > 1)
    throw std::runtime_error(
        fmt::format("several labs are running: {}; choose one with --lab or {}", fmt::join(up, ", "), kLabVariable));
  return LabDir(up[0]);
}

LabDir chosen_lab_dead_or_alive(const std::string& said) {
  const std::vector<std::string> names = LabDir::names();
  if (!said.empty() && std::ranges::find(names, said) != names.end()) return LabDir(said);
  if (said.empty() && names.size() == 1) return LabDir(names[0]);
  return chosen_lab(said);
}

CLI::Option* add_lab_option(CLI::App& command, std::string& said) {
  return command.add_option("-l,--lab", said, "Name of the live lab; required if several are running")
      ->type_name("NAME")
      ->envname(kLabVariable);
}

namespace {

// What a process has done so far.
struct Activity {
  bool stopped = false;         // by a signal
  std::uint64_t cpu_ticks = 0;  // of all its threads (proc(5))
};

Activity activity_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(in, line);
  // The name, in brackets, may hold anything.
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string state, skipped;
  std::uint64_t user = 0, system = 0;
  fields >> state;
  for (int field = 4; field < 14; ++field) fields >> skipped;
  fields >> user >> system;
  return {state == "T" || state == "t", user + system};
}

std::string why_silent(const LabDir& lab, const api::Unreachable& error, const Activity& before) {
  const pid_t pid = lab.pid();
  if (!lab.running())
    return fmt::format("lab '{0}' is dead: its daemon{1} ended without cleaning up; `railyard down {0}` cleans up",
                       lab.name(), pid > 0 ? fmt::format(" (PID {})", pid) : "");
  const Activity now = activity_of(pid);
  if (error.is_silent() && !now.stopped && now.cpu_ticks != before.cpu_ticks)
    return fmt::format("lab '{}' is busy: railyardd (PID {}) works, and gave no answer ({}); ask again later",
                       lab.name(), pid, error.what());
  if (error.is_silent() && pid > 0 && ::kill(pid, 0) == 0)
    return fmt::format(
        "lab '{0}' is hung: railyardd (PID {1}) does not answer ({2}); `kill -KILL {1}` ends it, then "
        "`railyard down {0}` cleans up",
        lab.name(), pid, error.what());
  return fmt::format("lab '{}' does not answer: {}", lab.name(), error.what());
}

}  // namespace

nlohmann::json ask(const LabDir& lab, const std::string& method, const std::string& target, const nlohmann::json& body,
                   std::chrono::milliseconds patience) {
  const Activity before = activity_of(lab.pid());
  try {
    return api::ask(lab.socket(), {method, target, body}, patience);
  } catch (const api::Unreachable& error) {
    throw std::runtime_error(why_silent(lab, error, before));
  }
}

}  // namespace railyard::tools
