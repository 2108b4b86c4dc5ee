// railyard set, railyard get: what a lab that is up is told, and what it has been told.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/base/json_text.h"
#include "control/spec/input_error.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

struct SetOptions {
  std::string lab;
  std::string path;
  std::vector<std::string> assignments;
  bool json = false;
};

int get(const SetOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  nlohmann::json answer;
  try {
    answer = ask(lab, "GET", o.path.empty() ? "/settings" : "/settings/" + o.path);
  } catch (const api::ApiError& error) {
    // An unknown key, as in --set.
    if (error.status() == 404) throw InputError(error.what());
    throw;
  }
  if (o.json) {
    fmt::print("{}\n", json_text(answer, 2));
    return kOk;
  }
  std::size_t width = 0;
  for (const auto& s : answer["settings"]) width = std::max(width, s["path"].get_ref<const std::string&>().size());
  for (const auto& s : answer["settings"])
    fmt::print("{:<{}}  {}\n", s["path"].get<std::string>(), width, s["value"].get<std::string>());
  return kOk;
}

int set(const SetOptions& o) {
  if (o.assignments.empty()) return get(o);
  const daemon::LabDir lab = chosen_lab(o.lab);
  nlohmann::json answer;
  try {
    answer = ask(lab, "POST", "/settings", {{"set", o.assignments}});
  } catch (const api::ApiError& error) {
    if (error.status() == 400) throw InputError(error.what());
    throw;
  }
  if (o.json) {
    fmt::print("{}\n", json_text(answer, 2));
    return kOk;
  }
  for (const auto& c : answer["changes"])
    fmt::print("lab {}: {}: {} -> {}\n", lab.name(), c["path"].get<std::string>(), c["from"].get<std::string>(),
               c["to"].get<std::string>());
  if (answer["changes"].empty())
    fmt::print("lab {}: no change\n", lab.name());
  else
    fmt::print("lab {}: in effect at {:.6f} s\n", lab.name(), answer["effective_seconds"].get<double>());
  return kOk;
}

}  // namespace

void add_set(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<SetOptions>();
  add_lab_option(*command, o->lab);
  command
      ->add_option("PATH=VALUE", o->assignments,
                   "Keys and new values, as in --set of run and up; all take effect at one instant. Without any: list "
                   "the keys that can be changed")
      ->type_name("");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  railyard set qos.default.classes.3.ecn.kmin=100KB qos.default.classes.3.ecn.kmax=400KB\n"
      "  railyard set qos.default.classes.3.path=spray\n"
      "  railyard set traffic.incast.rate=25Gbps\n"
      "  railyard set topology.fabric-link.rate=200Gbps      links of a preset\n"
      "  railyard set links.leaf1:3.rate=50Gbps              a link of the file, by either end");
  command->callback([o, &exit_code] { exit_code = set(*o); });
}

void add_get(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<SetOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("PATH", o->path, "Print this key, or all keys below it, e.g. qos.default.classes.3")
      ->type_name("");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  railyard get\n"
      "  railyard get qos.default.classes.3.ecn");
  command->callback([o, &exit_code] { exit_code = get(*o); });
}

}  // namespace railyard::tools
