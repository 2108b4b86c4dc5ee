// railyard doctor: what is wrong, from counters: of a report, a run, a running lab, real devices, or captures. And whether
// this machine can run live labs well.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/doctor/readers/capture.h"
#include "control/doctor/readers/gathered.h"
#include "control/doctor/table.h"
#include "control/lab/version.h"
#include "control/machine/check.h"
#include "control/report/compare.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {
namespace {

struct DoctorOptions {
  std::string what;
  std::vector<std::string> sets;
  std::vector<std::string> from;
  std::string plan;  // a fabric file
  std::size_t most = 5;
  bool json = false;
  bool rules = false;
  bool host = false;
};

bool is_lab_file(const std::string& file) { return file.ends_with(".yaml") || file.ends_with(".yml"); }

bool is_capture(const std::string& file) { return file.ends_with(".pcap") || file.ends_with(".pcapng"); }

// No file, and no path either: the name of a running lab.
bool is_lab_name(const std::string& what) {
  std::error_code ignored;
  return what.find('/') == std::string::npos && what.find('.') == std::string::npos &&
         !std::filesystem::exists(what, ignored);
}

nlohmann::ordered_json report_of_file(const DoctorOptions& o) {
  std::vector<std::string> command{o.what};
  for (const std::string& s : o.sets) command.insert(command.end(), {"--set", s});
  RunResult result;
  run_all({command}, {.parallel = 1}, [&](RunResult r) { result = std::move(r); });
  if (result.report.is_null()) throw InputError(fmt::format("{}: {}", o.what, result.failure));
  return std::move(result.report);
}

nlohmann::ordered_json report_of_lab(const std::string& lab) {
  const nlohmann::json files = ask(chosen_lab(lab), "GET", "/report");
  if (files.contains("sites"))
    throw std::runtime_error(fmt::format("lab '{}' has a report for each site; expected `railyard report DIR`, then `railyard doctor "
                                         "DIR/SITE/report.json`",
                                         lab));
  return nlohmann::ordered_json::parse(files.at("report.json").get<std::string>());
}

// What counters mean may change with the version. "0.1.0" of "0.1.0+5e13dad258": a build changes nothing of it.
void check_version(const nlohmann::ordered_json& report, const std::string& file) {
  const auto run = report.find("run");
  if (run == report.end() || !run->contains("version") || !(*run)["version"].is_string()) return;
  const auto base = [](const std::string& version) { return version.substr(0, version.find('+')); };
  const std::string found = base((*run)["version"].get<std::string>()), expected = base(lab::version());
  if (found != expected)
    throw InputError(fmt::format("{}: run.version: a report of version {}; expected {}, which this program writes: run the lab again",
                                 file, found, expected));
}

nlohmann::ordered_json report_of(const DoctorOptions& o) {
  if (is_lab_file(o.what)) return report_of_file(o);
  if (is_lab_name(o.what)) return report_of_lab(o.what);
  nlohmann::ordered_json report = report::read_report(o.what);
  check_version(report, o.what);
  return report;
}

// The links of a fabric file, as a Case reads them.
nlohmann::ordered_json links_of(const std::string& file) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  const spec::Lab lab = spec::load(file);
  const auto is_host = [&](const spec::PortName& port) {
    const spec::NodeSpec* const node = lab.find(port.node);
    return node != nullptr && node->kind == spec::NodeSpec::Kind::kHost;
  };
  for (const spec::LinkSpec& link : lab.links)
    out.push_back({{"a", spec::format(link.a)},
                   {"b", spec::format(link.b)},
                   {"a_is_host", is_host(link.a)},
                   {"b_is_host", is_host(link.b)},
                   {"rate_bps", link.rate.bps}});
  return out;
}

std::unique_ptr<doctor::Case> case_of(const DoctorOptions& o) {
  if (!o.from.empty()) return doctor::read_counters(o.from);
  if (is_capture(o.what)) return doctor::read_capture(o.what);
  nlohmann::ordered_json plan;
  if (!o.plan.empty()) plan = links_of(o.plan);  // a wrong file is refused before a lab is run
  nlohmann::ordered_json report = report_of(o);
  if (!o.plan.empty() && report.is_object()) report["plan"] = std::move(plan);
  return std::make_unique<doctor::Case>(std::move(report), o.what);
}

std::vector<doctor::Found> findings_of(const doctor::Case& c, const std::string& file) {
  try {
    return doctor::diagnose(c);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: is no report of this version: {}", file, error.what()));
  }
}

// Whether DPDK drives a device by its PCI address: "0000:03:00.0,...".
bool is_pci(const spec::Attachment& attach) {
  const auto* const dpdk = std::get_if<spec::AttachDpdk>(&attach);
  return dpdk != nullptr && dpdk->device.find(':') < dpdk->device.find(',');
}

bool is_of_kernel(const spec::Attachment& attach) {
  return std::holds_alternative<spec::AttachNamespace>(attach) || std::holds_alternative<spec::AttachTap>(attach) ||
         std::holds_alternative<spec::AttachNetdev>(attach);
}

machine::Wanted wanted_of(const std::string& file, const std::vector<std::string>& sets) {
  const spec::Lab lab = spec::load(file, sets);
  machine::Wanted w;
  w.name = lab.name;
  w.workers = lab.run.workers;
  w.cores = lab.run.cores;
  w.polling = lab.run.polling;
  w.hugepages = lab.run.hugepages;
  for (const spec::NodeSpec& node : lab.nodes) {
    for (const spec::NicSpec& nic : node.nics) {
      w.interfaces |= is_of_kernel(nic.attach);
      w.pci |= is_pci(nic.attach);
    }
    w.interfaces |= is_of_kernel(node.trunk.attach);
    w.pci |= is_pci(node.trunk.attach);
  }
  return w;
}

int check_host(const DoctorOptions& o) {
  if (!o.from.empty() || !o.plan.empty()) throw CLI::ValidationError("--host", "expected a fabric file or nothing with it");
  if (!o.what.empty() && !is_lab_file(o.what))
    throw CLI::ValidationError("--host", "expected a fabric file (.yaml) or nothing with it");
  const machine::Files files;
  std::optional<machine::Wanted> wanted;
  if (!o.what.empty()) wanted = wanted_of(o.what, o.sets);
  constexpr Duration kMeasured{1'000'000'000'000};
  const machine::Ticks before = machine::read_ticks(files);
  machine::Measured measured;
  measured.gaps = machine::measure_gaps_on(wanted ? wanted->cores : std::vector<int>{}, kMeasured);
  const machine::Ticks after = machine::read_ticks(files);
  if (after.all > before.all)
    measured.steal = static_cast<double>(after.stolen - before.stolen) / static_cast<double>(after.all - before.all);
  const std::vector<machine::Check> checks = machine::check_machine(files, wanted, measured);
  if (o.json)
    std::puts(json_text(machine::json(checks, measured), 2).c_str());
  else
    fmt::print("{}", machine::text(files, checks));
  return kOk;
}

int run_doctor(const DoctorOptions& o) {
  if (o.rules) {
    std::fputs(doctor::rules_text().c_str(), stdout);
    return kOk;
  }
  if (o.host) return check_host(o);
  if (o.what.empty() && o.from.empty()) throw CLI::RequiredError("FILE");
  if (!o.what.empty() && !o.from.empty())
    throw CLI::ValidationError("--from", "expected either FILE or --from");
  if (!o.plan.empty() && (!o.from.empty() || is_capture(o.what)))
    throw CLI::ValidationError("--plan", "counters of devices and captures do not say who is at the other end; expected a report, a "
                                         "fabric file or a running lab with it");
  if (!is_lab_file(o.what) && !o.sets.empty())
    throw CLI::ValidationError("--set", "values of a report cannot be set; expected a fabric file");
  const std::unique_ptr<doctor::Case> c = case_of(o);
  const std::vector<doctor::Found> found = findings_of(*c, o.what);
  const std::string name = c->name().empty() ? o.what : c->name();
  if (o.json)
    std::puts(json_text(doctor::json(*c, name, found), 2).c_str());
  else
    fmt::print("{}", doctor::text(*c, name, found, o.most));
  return kOk;
}

}  // namespace

void add_doctor(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<DoctorOptions>();
  command->add_option("FILE", o->what,
                      "A report (JSON), a fabric file (YAML), which is run first, a capture (pcapng), or the name of a "
                      "running lab");
  command->add_option("--set", o->sets, "Override a value of the fabric file")->type_name("PATH=VALUE");
  command
      ->add_option("--from", o->from,
                   "Counters of real devices instead: Prometheus' query API, `ethtool -S`, SONiC's COUNTERS_DB or `show "
                   "interfaces counters -j`, `show pfc counters`; repeatable")
      ->type_name("FILE");
  command->add_option("--plan", o->plan, "How it should be: compare hosts' switches and links' rates with this fabric file")
      ->type_name("FILE");
  command->add_option("--most", o->most, "Findings to print in full")->type_name("N")->capture_default_str();
  command->add_flag("--host", o->host,
                    "Check this machine instead: what slows live labs down, and what to do; with FILE for this lab's cores. Takes "
                    "a second");
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
      "  railyard doctor mylab                                      # that `railyard up` has started\n"
      "  railyard doctor mylab --plan planned.yaml                  # hosts at wrong switches, slow links\n"
      "  railyard doctor --from h1.txt --from h2.txt --from tor1.json\n"
      "  railyard doctor --host mylab.yaml                          # is this machine ready for it?\n"
      "  railyard doctor --rules");
  command->callback([o, &exit_code] { exit_code = run_doctor(*o); });
}

}  // namespace railyard::tools
