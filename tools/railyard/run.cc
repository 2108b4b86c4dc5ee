// `railyard run`: a lab from beginning to end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/daemon/run_page.h"
#include "control/fault/fault_log.h"
#include "control/lab/processes.h"
#include "control/lab/scaling_text.h"
#include "control/lab/session.h"
#include "control/lab/version.h"
#include "control/report/doctor_text.h"
#include "control/report/failures.h"
#include "control/report/flow_csv.h"
#include "control/report/html/page.h"
#include "control/report/inference_figures.h"
#include "control/report/judge.h"
#include "control/report/junit.h"
#include "control/report/port_json.h"
#include "control/report/step_csv.h"
#include "control/report/units.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "control/telemetry/memory_watch.h"
#include "control/timeline/trace_events.h"
#include "dataplane/base/planted_bug.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/expect_options.h"
#include "tools/railyard/planted_bug_option.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/run_options.h"
#include "tools/railyard/run_progress.h"
#include "tools/railyard/slow_collectives.h"
#include "tools/railyard/together.h"
#include "tools/railyard/write_file.h"
#include "tools/web/page.h"

namespace railyard::tools {
namespace {

std::atomic<bool> interrupted{false};

// The first ends the run with its report; the second ends the program.
void on_signal(int signal) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// With the samples of --memory and what --profile found, if there are any.
void add_more(const telemetry::MemoryWatch& memory, const ScalingProfile* profile, nlohmann::ordered_json& j) {
  if (profile != nullptr) j["engine"]["scaling"] = lab::scaling_json(*profile);
  for (const telemetry::MemorySample& s : memory.samples())
    j["engine"]["memory"].push_back({{"wall_seconds", s.wall_seconds},
                                     {"simulated_seconds", s.simulated_seconds},
                                     {"rss_bytes", s.rss_bytes},
                                     {"open_files", s.open_files}});
}

// A report in the forms that are asked for. Its JSON is made once, without ports: it is printed, and the doctor looks at it.
struct Printed {
  std::string json;
  std::vector<doctor::Found> causes;
  std::string text;
};
Printed printed(const report::Report& report, const telemetry::MemoryWatch& memory, const ScalingProfile* profile, bool as_json,
                bool as_text) {
  Printed out;
  if (!as_json && !as_text) return out;
  nlohmann::ordered_json rest = report.value_without_ports();
  add_more(memory, profile, rest);
  if (as_json) out.json = report::json_with_ports(rest, report.ports);
  if (!as_text) return out;
  out.causes = report::findings(report, std::move(rest));
  out.text = report::text_of(report, out.causes);
  return out;
}

// One line per event.
std::string log_of(lab::Session& session) {
  std::string log;
  for (const fault::LoggedEvent& e : session.faults().events(session.engine().reached()))
    log += fault::line_of(e) + "\n";
  return log;
}

// Whatever ends one of several processes ends all.
report::Report run_together(lab::Session& session, Peers* peers) {
  try {
    return session.run(interrupted);
  } catch (const std::exception& error) {
    if (peers == nullptr) throw;
    fmt::print(stderr, "railyard: process {}: {}\n", peers->self(), error.what());
    peers->abort(kFailed);
  }
}

ExitCode exit_code_of(const report::Report& report) {
  if (!report.audit.balanced) return kUnbalanced;
  if (report.run.interrupted) return kFailed;
  if (!std::ranges::all_of(report.expectations, &report::Expectation::met)) return kMissed;
  return report::unexpected_failures(report).empty() ? kOk : kUnverified;
}

spec::Lab load(const RunOptions& o) {
  spec::Lab spec = spec::load(o.file, overrides(o));
  for (const std::string& text : o.faults) spec.faults.push_back(spec::parse_fault(spec, text, "--fault"));
  add_expectations(o.expect, o.sets.empty(), spec);
  return spec;
}

// What one process alone can do.
void check_parts(const RunOptions& o) {
  for (const auto& [is_set, option] : {std::pair{o.web, "--web"}, std::pair{o.profile, "--profile"}})
    if (is_set) throw CLI::ValidationError(option, "cannot be used with several processes");
}

// Files of results, opened before the run, which would be lost otherwise.
struct ResultFiles {
  std::optional<ResultFile> junit, flow_csv, steps, requests, trace, fault_log;

  void open(const RunOptions& o) {
    if (!o.junit.empty()) junit.emplace(o.junit, "--junit");
    if (!o.flow_csv.empty()) flow_csv.emplace(o.flow_csv, "--flow-csv");
    if (!o.steps.empty()) steps.emplace(o.steps, "--steps");
    if (!o.requests.empty()) requests.emplace(o.requests, "--requests");
    if (!o.trace.empty()) trace.emplace(o.trace, "--trace");
    if (!o.fault_log.empty()) fault_log.emplace(o.fault_log, "--fault-log");
  }
};

// The option whose file is standard output; empty: none, so that the report goes there.
std::string taker_of_output(const RunOptions& o) {
  const bool captures = std::ranges::any_of(o.captures, [](const std::string& c) { return c.ends_with("=-"); });
  return taker_of_standard_output({{"--capture", captures ? "-" : ""},
                                   {"--junit", o.junit},
                                   {"--series", o.series},
                                   {"--flow-series", o.flow_series},
                                   {"--flow-csv", o.flow_csv},
                                   {"--steps", o.steps},
                                   {"--requests", o.requests},
                                   {"--trace", o.trace},
                                   {"--metrics", o.metrics},
                                   {"--int", o.int_file},
                                   {"--fault-log", o.fault_log}},
                                  o.json);
}

int run(const RunOptions& asked) {
  const std::unique_ptr<Peers> peers = lab::join_processes();
  std::optional<spec::Lab> loaded;
  together(peers.get(), [&] {
    if (peers != nullptr) check_parts(asked);
    loaded = load(asked);
  });
  const bool speaks = peers == nullptr || peers->self() == 0;
  if (peers != nullptr) {
    lab::meet(*peers, nullptr, std::string(lab::version()), "version of railyard");
    lab::meet(*peers, nullptr, spec::lab_digest(*loaded), "fabric");
  }
  spec::Lab spec = std::move(*loaded);
  const bool live = spec.run.clock == spec::Clock::kWall;
  const RunOptions o = speaks ? asked : without_results(asked);
  std::string taker;
  ResultFiles files;
  lab::SessionOptions options;
  together(peers.get(), [&] {
    // Options, before any file of the user is touched.
    options = session_options(o, spec);
    if (!speaks) return;
    taker = taker_of_output(o);
    files.open(o);
    if (!o.report_dir.empty()) make_directory(o.report_dir, "--report");
  });
  options.peers = peers.get();
  // With its fix it does not show any more what the file says.
  const std::vector<std::string>& fix = spec.diagnosis.set;
  const auto is_set = [&](const std::string& set) { return std::ranges::find(o.sets, set) != o.sets.end(); };
  if (!fix.empty() && std::ranges::all_of(fix, is_set)) spec.diagnosis = {};
  RunProgress progress(!o.quiet);
  telemetry::MemoryWatch memory;
  options.progress = [&](Instant at, Instant end) {
    progress.show(at, end);
    if (o.memory) memory.look(wall_seconds(), seconds(at - Instant{}));
  };
  options.ready = [&] {
    if (live && !o.quiet) fmt::print(stderr, "railyard: running; Ctrl-C ends the run and prints the report\n");
  };
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::optional<lab::Session> made;
  together(peers.get(), [&] { made.emplace(std::move(spec), std::move(options)); });
  lab::Session& session = *made;
  std::optional<daemon::RunPage> page;
  if (o.web) {
    page.emplace(session, web::page());
    fmt::print(stderr, "railyard: the run is shown at {}\n  The link works once. Token: {}\n", page->new_link(), page->token());
  }
  if (!o.report_dir.empty() && session.in_band().running() && o.int_file.empty())
    session.write_int((std::filesystem::path(o.report_dir) / "int.jsonl").string(), "--report");
  const report::Report report = run_together(session, peers.get());
  if (!speaks) return kOk;
  if (page) page->end();
  progress.clear();
  const bool kept = !o.report_dir.empty();
  const Printed out = printed(report, memory, session.engine().profile(), o.json || kept, kept || (!o.json && taker.empty()));
  if (o.json)
    std::puts(out.json.c_str());
  else if (taker.empty())
    std::fputs((out.text + slow_collectives_text(session.lab(), o.file, o.sets, report.collectives)).c_str(), stdout);
  if (!o.json && taker.empty() && session.engine().profile() != nullptr)
    std::fputs(lab::scaling_text(*session.engine().profile()).c_str(), stdout);
  // The report is out. A file that cannot be written keeps no other one from being written.
  std::vector<std::string> unwritten = session.unwritten();
  const auto keep = [&](const std::function<void()>& write) {
    try {
      write();
    } catch (const std::runtime_error& error) {
      unwritten.emplace_back(error.what());
    }
  };
  if (kept)
    keep([&] {
      const std::filesystem::path dir(o.report_dir);
      write_file(dir / "report.json", out.json + "\n", "--report");
      write_file(dir / "report.txt", out.text, "--report");
      write_file(
          dir / "report.html",
          report::html(report,
                       {.lab = &session.lab().spec(), .series_file = o.series, .flow_series_file = o.flow_series, .causes = &out.causes}),
          "--report");
      write_file(dir / "lab.yaml", spec::to_yaml(session.lab().spec()), "--report");
    });
  if (files.flow_csv) keep([&] { files.flow_csv->write(report::flow_csv(report)); });
  if (files.steps) keep([&] { files.steps->write(report::step_csv(report)); });
  if (files.requests) keep([&] { files.requests->write(report::request_csv(report)); });
  if (files.trace) keep([&] { files.trace->write(timeline::trace_events(session.lab())); });
  if (files.fault_log) keep([&] { files.fault_log->write(log_of(session)); });
  if (files.junit) keep([&] { files.junit->write(report::junit_xml({report::junit_suite(report)})); });
  if (report.run.interrupted)
    fmt::print(stderr, "railyard: the run was interrupted at {} of simulated time\n",
               report::time_text(session.engine().reached() - Instant{}));
  for (const report::Expectation& e : report.expectations)
    if (!e.met) fmt::print(stderr, "railyard: expectation missed: {}\n", report::miss_text(e));
  if (const auto failures = report::unexpected_failures(report); !failures.empty())
    fmt::print(stderr, "railyard: unverified: {}\n", report::failures_text(failures));
  for (const std::string& error : unwritten) fmt::print(stderr, "railyard: {}\n", error);
  const ExitCode code = exit_code_of(report);
  return unwritten.empty() ? code : worse(code, kFailed);
}

}  // namespace

void add_run(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<RunOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command->add_option("--clock", o->clock, "virtual: exact, as fast as possible; wall: real time")
      ->type_name("wall|virtual");
  command->add_option("--seed", o->seed, "Seed of all random draws")->type_name("N");
  command->add_option("--workers", o->workers, "Number of threads; no effect on results")->type_name("N");
  command->add_option("--duration", o->duration, "Duration of traffic, e.g. 5ms")->type_name("TIME");
  command->add_option("--scale", o->scale, "Wall clock: simulated time / wall time, e.g. 1/100")->type_name("RATIO");
  command
      ->add_option("--payload", o->payload, "elided: payload is not stored; real: every byte is written and verified")
      ->type_name("elided|real");
  command->add_option("--set", o->sets, "Override a value of the file, e.g. --set qos.default.classes.3.ecn.kmin=200KB")
      ->type_name("PATH=VALUE");
  command->add_flag("--web", o->web, "Show the run on a live page in the browser (read-only); prints a link");
  command
      ->add_option("--fault", o->faults,
                   "One more fault, as in `faults:` of a file, e.g. 'on: spine1, at: 2ms, for: 5ms, crash: true'")
      ->type_name("FAULT");
  command->add_flag("--profile", o->profile,
                    "Measure where time goes, and estimate the speed with 2, 4, 8, ... workers (docs/scale.md)");
  command
      ->add_option("--capture", o->captures, "Capture a port to a pcapng file; PORT:in or PORT:out for one direction")
      ->type_name("PORT=FILE");
  command
      ->add_option("--series", o->series,
                   "Write a time series of all queues to a CSV file: depth, marks, pauses, drops")
      ->type_name("FILE");
  command
      ->add_option("--flow-series", o->flow_series,
                   "Write a time series of all flows to a CSV file: bytes sent and delivered")
      ->type_name("FILE");
  command->add_option("--flow-csv", o->flow_csv, "Write the flows of the report to FILE: one row each (CSV)")
      ->type_name("FILE");
  command->add_option("--series-every", o->series_every, "Sampling interval of both series (default 10us)")
      ->type_name("TIME");
  command->add_option("--steps", o->steps, "Write the repeats of collectives, steps of training too: one row each (CSV)")
      ->type_name("FILE");
  command->add_option("--requests", o->requests, "Write the requests of inference jobs and their latencies: one row each (CSV)")
      ->type_name("FILE");
  command
      ->add_option("--trace", o->trace,
                   "Write what each rank of collectives and traces did and when, for ui.perfetto.dev (Chrome trace events, JSON). "
                   "Sets run.timeline")
      ->type_name("FILE");
  auto* metrics =
      command->add_option("--metrics", o->metrics, "Write the metrics of a live lab with simulated time, for Prometheus (OpenMetrics)")
          ->type_name("FILE");
  command->add_option("--metrics-every", o->metrics_every, "Time between their samples (default 1ms)")
      ->type_name("TIME")
      ->needs(metrics);
  command->add_option("--metrics-stretch", o->metrics_stretch, "Their timestamps are simulated time x N: Prometheus tells milliseconds apart")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u))
      ->needs(metrics);
  add_expect_options(*command, o->expect, o->junit);
  auto* in_band =
      command->add_option("--int", o->int_file, "Write in-band telemetry of sampled packets: one JSON line per hop")
          ->type_name("FILE");
  command->add_option("--int-one-in", o->int_one_in, "Sample one packet in N (default: run.int of the lab, else 1000)")
      ->type_name("N")
      ->needs(in_band);
  command
      ->add_option(
          "--report", o->report_dir,
          "Output directory: report.html, report.json, report.txt, lab.yaml (the expanded lab), int.jsonl if the "
          "lab has run.int")
      ->type_name("DIR");
  command->add_option("--fault-log", o->fault_log, "Write fault events, one JSON line each")->type_name("FILE");
  command
      ->add_option("--replay", o->replay,
                   "Replay the faults of such a log at their recorded instants, instead of the file's faults")
      ->type_name("LOG");
  command->add_flag("--transients", o->transients,
                    "Sample every microsecond: when flows to one NIC share it evenly (convergence, off_fair_share), "
                    "and the time from the first loss to the first retransmission (repair_after)");
  command->add_flag("--memory", o->memory,
                    "Sample resident memory and open files of this process over the run, into the JSON report (engine.memory)");
  command->add_flag("--digest", o->digest, "Compute a digest of all departures of all devices");
  command->add_flag("--json", o->json, "Print the report as JSON");
  command->add_flag("-q,--quiet", o->quiet, "No progress");
  if (kHasPlantedBugs) add_planted_bug_option(*command, o->planted);
  command->footer(
      "FILE `-` is standard output, instead of the report.\n"
      "Examples:\n"
      "  railyard run topologies/incast-8to1.yaml\n"
      "  railyard run topologies/incast-8to1.yaml --set qos.default.classes.3.lossless=false   # now it drops\n"
      "  railyard run topologies/incast-8to1.yaml --capture leaf2:1=incast.pcapng              # open it in Wireshark\n"
      "  railyard run LAB.yaml --expect 'busbw >= 380Gbps' --expect 'drops == 0' --junit run.xml   # a CI gate\n"
      "  railyard run LAB.yaml --digest --workers 2 --json | jq .trace_digest                  # equal for any number "
      "of workers");
  command->callback([o, &exit_code] {
    try {
      exit_code = run(*o);
    } catch (const lab::SaidElsewhere&) {
      // mpirun ends with the exit code of the process that says why.
    }
  });
}

}  // namespace railyard::tools
