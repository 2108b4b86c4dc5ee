// railyard validate: the acceptance list of a fabric, one answer per line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/acceptance/table.h"
#include "control/base/json_text.h"
#include "control/estimate/estimate.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/runs.h"
#include "tools/railyard/validate.h"

namespace railyard::tools {
namespace {

namespace fs = std::filesystem;
using acceptance::ProbeKind;

std::optional<Duration> limit(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto t = spec::parse_duration(text);
  if (!t) throw std::invalid_argument(fmt::format("{}: {}", option, t.error()));
  return *t;
}

acceptance::Settings settings_of(const ValidateOptions& o) {
  acceptance::Settings s;
  if (!(o.bandwidth > 0 && o.bandwidth <= 100))
    throw std::invalid_argument(
        fmt::format("--bandwidth: {} is no share of a rate; expected a percentage above 0, up to 100", o.bandwidth));
  if (o.pairs == 0) throw std::invalid_argument("--pairs: 0 pairs measure nothing; expected 1 or more");
  s.least_bandwidth = o.bandwidth / 100;
  s.p99 = limit("--p99", o.p99);
  s.p999 = limit("--p999", o.p999);
  s.loaded_p99 = limit("--loaded-p99", o.loaded_p99);
  s.most_pairs = o.pairs;
  if (o.planned_gpus > 0) s.planned_gpus = o.planned_gpus;
  return s;
}

// A collective's time on links that are shared perfectly, of the lab as it is read from its file.
std::optional<Duration> reference_of(const std::string& file) {
  const auto estimated = estimate::estimate(spec::load(file));
  if (!estimated || estimated->collectives.empty()) return std::nullopt;
  return estimated->collectives.front().time;
}

bool is_collective(ProbeKind kind) {
  return kind == ProbeKind::kAllReduce || kind == ProbeKind::kAllGather || kind == ProbeKind::kAllToAll ||
         kind == ProbeKind::kJob;
}

// The answers in all forms that were asked for, and what the command ends with.
int finish(const ValidateOptions& o, const acceptance::Result& result, const spec::Lab& lab, const std::string& taker,
           std::optional<ResultFile>& html, std::optional<ResultFile>& junit, ExitCode code) {
  if (o.json)
    std::puts(json_text(acceptance::json(result), 2).c_str());
  else if (taker.empty())
    fmt::print("{}", acceptance::text(result));
  if (html) html->write(acceptance::page(result, lab));
  if (junit) junit->write(report::junit_xml({acceptance::junit(result)}));
  if (code != kOk) return code;
  const acceptance::Answer answer = result.answer();
  if (answer == acceptance::Answer::kBroken) return kFailed;
  return answer == acceptance::Answer::kFail || (o.strict && answer == acceptance::Answer::kWarn) ? kMissed : kOk;
}

// The running lab that is meant; nothing: it is a file.
std::optional<daemon::LabDir> lab_meant(const ValidateOptions& o) {
  std::error_code ignored;
  if (fs::exists(o.file, ignored)) return std::nullopt;
  for (const std::string& name : daemon::LabDir::names())
    if (name == o.file) return chosen_lab(name);
  return std::nullopt;  // whoever reads the file says that there is none
}

void refuse_options_of_the_other(const ValidateOptions& o, bool live) {
  const auto refuse = [](const char* option, const char* why) { throw std::invalid_argument(fmt::format("{}: {}", option, why)); };
  if (live && !o.sets.empty()) refuse("--set", "a running lab is changed by `railyard set`; expected it without");
  if (live && !o.keep.empty()) refuse("--keep", "probes of a running lab are no files; expected it without");
  if (!live && o.disturb) refuse("--disturb", "it is for running labs; a file's failover is simulated");
  if (!live && !o.host_seconds.empty()) refuse("--host-seconds", "it is for running labs");
}

// Every probe but the soak as a run of its own.
ExitCode run_probes(const ValidateOptions& o, const acceptance::Subject& subject, const std::set<ProbeKind>& wanted,
                    const ProbeFolder& folder, bool shows, acceptance::Runs& runs) {
  std::vector<std::vector<std::string>> commands;
  std::vector<ProbeKind> kinds;
  for (const ProbeKind kind : wanted) {
    std::optional<acceptance::Probe> probe = acceptance::probe_of(subject, kind);
    if (!probe) continue;
    const std::string file_name = fmt::format("{}.yaml", acceptance::name(kind));
    if (!probe->flows.empty()) folder.write(fmt::format("{}.csv", acceptance::name(kind)), probe->flows);
    acceptance::Run& run = runs[kind];
    std::string file = folder.write(file_name, spec::to_yaml(probe->lab));
    if (is_collective(kind)) {
      std::optional<Duration> reference;
      try {
        reference = reference_of(file);
      } catch (const spec::SpecError& error) {
        // Such as rails that nothing joins: a collective of all ranks is not for this fabric.
        run.not_run = error.message();
        continue;
      }
      if (reference) run.reference_ns = static_cast<double>(reference->ps) / 1000;
      if (kind == ProbeKind::kJob && run.reference_ns) {
        probe->lab.collectives[0].forward =
            Duration{static_cast<std::int64_t>(*run.reference_ns * 1000) * acceptance::kComputeRatio};
        file = folder.write(file_name, spec::to_yaml(probe->lab));
      }
    }
    std::vector<std::string>& command = commands.emplace_back();
    command = {file};
    command.insert(command.end(), probe->options.begin(), probe->options.end());
    kinds.push_back(kind);
    if (!folder.kept()) continue;
    run.file = file;
    for (const std::string& option : probe->options)
      run.file += option.starts_with("-") ? " " + option : fmt::format(" '{}'", option);
  }
  ExitCode code = kOk;
  run_all(commands, {.parallel = o.jobs, .shows = shows}, [&](RunResult r) {
    acceptance::Run& run = runs[kinds[r.index]];
    run.failure = std::move(r.failure);
    run.report = std::move(r.report);
    if (r.exit_code == kUnbalanced) code = kUnbalanced;
    if (run.report.is_null() && code == kOk) code = kFailed;
  });
  return code;
}

int run_validate(const ValidateOptions& o) {
  const std::string taker = taker_of_standard_output({{"--html", o.html}, {"--junit", o.junit}}, o.json);
  acceptance::Settings settings = settings_of(o);
  const std::optional<daemon::LabDir> live = lab_meant(o);
  refuse_options_of_the_other(o, live.has_value());
  std::vector<const acceptance::Item*> list;
  try {
    list = acceptance::items(o.only, live ? acceptance::Where::kLive : acceptance::Where::kFile);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--only: {}", error.what()));
  }
  std::optional<ResultFile> html, junit;
  const auto open_files = [&] {
    if (!o.html.empty()) html.emplace(o.html, "--html");
    if (!o.junit.empty()) junit.emplace(o.junit, "--junit");
  };
  if (live) {
    open_files();
    spec::Lab lab;
    const acceptance::Result result = validate_live(*live, o, settings, list, lab);
    return finish(o, result, lab, taker, html, junit, kOk);
  }
  soak_time(o, {}, Duration{1});  // wrong values are refused before the file is read
  const spec::Lab lab = spec::load(o.file, o.sets);
  acceptance::Subject subject =
      acceptance::subject_of(lab, settings, o.transport.empty() ? std::nullopt : std::optional(o.transport));
  const Duration interval = acceptance::soak_interval(subject);
  const SoakTime soak = soak_time(o, interval * acceptance::kSoakRuns, interval);
  subject.settings.soak = soak.whole;
  open_files();
  const ProbeFolder folder(o.keep);
  const auto began = std::chrono::steady_clock::now();
  const bool shows = !o.json && taker.empty() && isatty(STDERR_FILENO) != 0;

  std::set<ProbeKind> wanted;
  for (const acceptance::Item* i : list) wanted.insert(i->probes.begin(), i->probes.end());
  const bool soaks = wanted.erase(ProbeKind::kSoak) > 0;
  acceptance::Runs runs;
  ExitCode code = run_probes(o, subject, wanted, folder, shows, runs);
  if (soaks) {
    bool unbalanced = false;
    const acceptance::Run& run = runs[ProbeKind::kSoak] = soak_of_file(o, subject, soak, folder, shows, unbalanced);
    if (unbalanced) code = kUnbalanced;
    if (!run.failure.empty() && code == kOk) code = kFailed;
  }

  acceptance::Result result{o.file, lab.name, subject.uet ? "UET" : "RoCEv2"};
  for (const acceptance::Item* i : list) {
    acceptance::Line line{i, acceptance::judge(*i, subject, runs)};
    for (const ProbeKind kind : i->probes)
      if (const auto run = runs.find(kind); run != runs.end() && !run->second.file.empty())
        line.files.push_back(run->second.file);
    result.lines.push_back(std::move(line));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return finish(o, result, subject.lab, taker, html, junit, code);
}

}  // namespace

ProbeFolder::ProbeFolder(const std::string& kept) : kept_(!kept.empty()) {
  if (kept_) {
    path_ = kept;
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) throw std::runtime_error(fmt::format("--keep: cannot make {}: {}", kept, error.message()));
    return;
  }
  std::string name = (fs::temp_directory_path() / "railyard-validate-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make a folder for probes");
  path_ = name;
}

ProbeFolder::~ProbeFolder() {
  std::error_code ignored;
  if (!kept_) fs::remove_all(path_, ignored);
}

std::string ProbeFolder::write(const std::string& name, const std::string& text) const {
  const std::string file = (path_ / name).string();
  ResultFile(file, kept_ ? "--keep" : "").write(text);
  return file;
}

void add_validate(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<ValidateOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML), or the name of a running lab")->required()->type_name("FILE|LAB");
  command->add_option("--set", o->sets, "Override a value of the file")->type_name("PATH=VALUE");
  command->add_option("--only", o->only, "Only these lines of the list")->delimiter(',')->type_name("LINES");
  command
      ->add_option("--transport", o->transport, "Transport of the probes (default: that of the file's work, else roce)")
      ->check(CLI::IsMember({"roce", "uet"}));
  command->add_option("--bandwidth", o->bandwidth, "Least bandwidth of a pair, % of the NICs' rate")
      ->type_name("PERCENT")
      ->capture_default_str();
  command->add_option("--p99", o->p99, "Limit of the 99th percentile of latency, idle (default: reported only)")
      ->type_name("TIME");
  command->add_option("--p999", o->p999, "The same, 99.9th percentile")->type_name("TIME");
  command->add_option("--loaded-p99", o->loaded_p99, "Limit of the 99th percentile of latency under full load")
      ->type_name("TIME");
  command->add_option("--pairs", o->pairs, "Maximum number of pairs to measure; the seed draws them if there are more")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--soak,--duration", o->soak,
                   "Length of the soak; 0: none. Of a file simulated time (default: 20 intervals), of a running lab wall "
                   "time (5m)")
      ->type_name("TIME");
  command->add_option("--interval", o->interval, "Length of an interval of the soak (default: 2 million packets, 5ms at most; running lab: 10s)")->type_name("TIME");
  command->add_option("--checkpoint", o->checkpoint, "Save the soak after each interval")->type_name("FILE");
  command->add_option("--resume", o->resume, "Resume a soak from its checkpoint, and keep saving it there")->type_name("FILE");
  command->add_flag("--disturb", o->disturb, "Running lab: take a link down for the failover");
  command->add_option("--host-seconds", o->host_seconds, "Running lab: length of each iperf3 (default: 1s)")->type_name("TIME");
  command->add_option("--planned-gpus", o->planned_gpus, "GPUs of the cluster that this one stands for")
      ->type_name("N");
  command->add_option("--keep", o->keep, "Keep the probes as fabric files in this folder")->type_name("DIR");
  command->add_option("--html", o->html, "Write the report as a page")->type_name("FILE");
  command->add_option("--junit", o->junit, "Write the lines as JUnit XML")->type_name("FILE");
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  command->add_flag("--strict", o->strict, "Warnings end with exit code 6, too");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "It runs the fabric of the file, its faults included, under traffic of its own between built-in NICs: every pair "
      "alone,\n"
      "all together, an incast, collectives, a failing link. In a running lab, built-in NICs send probes beside the lab's "
      "traffic,\n"
      "and attached hosts run ping, iperf3 and RDMA programs. Each line has what was found, the threshold and its source. A "
      "line\n"
      "that fails ends the command with exit code 6. `railyard docs` has the definitions (validate.md).\n"
      "FILE `-` is standard output, instead of the list.\n"
      "\n"
      "Examples:\n"
      "  railyard validate topologies/rails-4x8.yaml\n"
      "  railyard validate LAB.yaml --html acceptance.html --keep probes\n"
      "  railyard validate LAB.yaml --only bandwidth-alone,mtu --p99 10us\n"
      "  railyard validate LAB.yaml --set topology.spines=2 --planned-gpus 1024\n"
      "  railyard validate LAB --duration 24h --checkpoint soak.json");
  command->callback([o, &exit_code] { exit_code = run_validate(*o); });
}

}  // namespace railyard::tools
