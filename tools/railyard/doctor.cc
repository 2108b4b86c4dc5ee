// railyard doctor: what is wrong, from the counters of a report.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/doctor/table.h"
#include "control/report/compare.h"
#include "control/spec/input_error.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {
namespace {

struct DoctorOptions {
  std::string file;
  std::vector<std::string> sets;
  std::size_t most = 5;
  bool json = false;
  bool rules = false;
};

bool is_lab(const std::string& file) { return file.ends_with(".yaml") || file.ends_with(".yml"); }

nlohmann::ordered_json report_of_lab(const DoctorOptions& o) {
  std::vector<std::string> command{o.file};
  for (const std::string& s : o.sets) command.insert(command.end(), {"--set", s});
  RunResult result;
  run_all({command}, 1, false, [&](RunResult r) { result = std::move(r); });
  if (result.report.is_null()) throw InputError(fmt::format("{}: {}", o.file, result.failure));
  return std::move(result.report);
}

int run_doctor(const DoctorOptions& o) {
  if (o.rules) {
    std::fputs(doctor::rules_text().c_str(), stdout);
    return kOk;
  }
  if (o.file.empty()) throw CLI::RequiredError("FILE");
  if (!is_lab(o.file) && !o.sets.empty())
    throw CLI::ValidationError("--set", "values of a report cannot be set; expected a fabric file");
  const doctor::Case c(is_lab(o.file) ? report_of_lab(o) : report::read_report(o.file), o.file);
  const std::vector<doctor::Found> found = doctor::diagnose(c);
  const std::string name = c.name().empty() ? o.file : c.name();
  if (o.json)
    std::puts(json_text(doctor::json(name, found), 2).c_str());
  else
    fmt::print("{}", doctor::text(name, found, o.most));
  return kOk;
}

}  // namespace

void add_doctor(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<DoctorOptions>();
  command->add_option("FILE", o->file, "A report (JSON), or a fabric file (YAML), which is run first");
  command->add_option("--set", o->sets, "Override a value of the fabric file")->type_name("PATH=VALUE");
  command->add_option("--most", o->most, "Findings to print in full")->type_name("N")->capture_default_str();
  command->add_flag("--rules", o->rules, "List what it can find");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "It reads counters of ports, flows, collectives and routing, as an operator could, and never the list of faults. "
      "Each\n"
      "finding has its evidence, what to do, and what would show that it is something else. `railyard docs` has all "
      "rules\n"
      "(doctor.md).\n"
      "Examples:\n"
      "  railyard run LAB.yaml --json > report.json; railyard doctor report.json\n"
      "  railyard doctor topologies/scenarios/ignore-pause.yaml\n"
      "  railyard doctor --rules");
  command->callback([o, &exit_code] { exit_code = run_doctor(*o); });
}

}  // namespace railyard::tools
