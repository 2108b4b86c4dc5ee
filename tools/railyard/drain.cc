// railyard drain, railyard undrain: traffic is led around a switch of a lab that is up, for maintenance.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/api/message.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;

struct DrainOptions {
  std::string lab;
  std::string node;
};

// Names of the faults that drain it, as `railyard fault ls` has them.
std::vector<std::string> drains_of(const daemon::LabDir& lab, const std::string& node) {
  std::vector<std::string> names;
  const json answer = ask(lab, "GET", "/faults");
  for (const json& f : answer["faults"])
    if (f["what"] == "drain" && f["on"] == node && !f["removed"].get<bool>())
      names.push_back(f["name"].get<std::string>());
  return names;
}

int drain(const DrainOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  if (!drains_of(lab, o.node).empty()) {
    fmt::print("lab {}: {} is drained already\n", lab.name(), o.node);
    return kOk;
  }
  json answer;
  try {
    answer = ask(lab, "POST", "/faults", {{"fault", fmt::format("on: \"{}\", drain: true", o.node)}});
  } catch (const api::ApiError& error) {
    if (error.status() != 400) throw;
    fmt::print(stderr, "railyard: {}\n", error.what());
    return kInput;
  }
  fmt::print("lab {}: {} drained at {:.6f} s; `railyard undrain {}` ends it\n", lab.name(), o.node,
             answer["effective_seconds"].get<double>(), o.node);
  return kOk;
}

int undrain(const DrainOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  const std::vector<std::string> names = drains_of(lab, o.node);
  if (names.empty()) {
    fmt::print(stderr, "railyard: {} is not drained; expected a switch from `railyard fault ls` whose fault is drain\n",
               o.node);
    return kUsage;
  }
  for (const std::string& name : names) {
    const json answer = ask(lab, "DELETE", "/faults/" + name);
    fmt::print("lab {}: {} takes traffic again from {:.6f} s on\n", lab.name(), o.node,
               answer["effective_seconds"].get<double>());
  }
  return kOk;
}

std::shared_ptr<DrainOptions> options(CLI::App* command) {
  auto o = std::make_shared<DrainOptions>();
  command->add_option("SWITCH", o->node, "Name of a switch")->required()->type_name("");
  add_lab_option(*command, o->lab);
  return o;
}

}  // namespace

void add_drain(CLI::App* command, int& exit_code) {
  const auto o = options(command);
  command->footer(
      "Its neighbours use it only where there is no other way, and it still forwards what it gets: nothing is lost.\n"
      "It is the fault `drain` (`railyard fault ls`), and needs `routing: bgp` or `instant`.\n"
      "Example:\n"
      "  railyard drain spine1 && sleep 1 && railyard fault add 'on: spine1, for: 5s, crash: true'");
  command->callback([o, &exit_code] { exit_code = drain(*o); });
}

void add_undrain(CLI::App* command, int& exit_code) {
  const auto o = options(command);
  command->footer("Example:\n  railyard undrain spine1");
  command->callback([o, &exit_code] { exit_code = undrain(*o); });
}

}  // namespace railyard::tools
