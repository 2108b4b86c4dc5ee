// `railyard run`: a lab from beginning to end.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/base/json_text.h"
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
#include "control/report/shell_word.h"
#include "control/report/step_csv.h"
#include "control/report/units.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "control/telemetry/memory_watch.h"
#include "control/timeline/trace_events.h"
#include "dataplane/base/planted_bug.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/eta.h"
#include "tools/railyard/expect_options.h"
#include "tools/railyard/planted_bug_option.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/slow_collectives.h"
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

struct RunOptions {
  std::string file;
  std::vector<std::string> sets;
  std::vector<std::string> faults;
  std::string clock;
  std::string seed;
  std::string workers;
  std::string duration;
  std::string scale;
  std::string payload;
  std::string report_dir;
  std::vector<std::string> captures;
  std::vector<std::string> expect;
  std::string junit;
  std::string series;
  std::string series_every;
  std::string flow_series;
  std::string flow_csv;
  std::string steps;
  std::string requests;
  std::string trace;
  std::string metrics;
  std::string metrics_every;
  std::uint32_t metrics_stretch = 1;
  std::string int_file;
  std::string int_one_in;
  std::string fault_log;
  std::string replay;
  bool web = false;
  bool transients = false;
  bool memory = false;
  bool digest = false;
  bool profile = false;
  bool json = false;
  bool quiet = false;
  std::string planted;
};

// A bar on standard error, if that is a terminal and the run takes long enough to be worth it.
class Progress {
 public:
  explicit Progress(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }

  void show(Instant at, Instant end) {
    if (!wanted_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - began_ < std::chrono::seconds(1) || now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    constexpr int kWidth = 40;
    if (end == Instant::never()) {
      fmt::print(stderr, "\r  {} of simulated time   ", report::time_text(at - Instant{}));
    } else {
      const double done = std::min(1.0, static_cast<double>(at.ps) / static_cast<double>(end.ps));
      const int bars = static_cast<int>(done * kWidth);
      // By the pace so far.
      const double elapsed = std::chrono::duration<double>(now - began_).count();
      const std::string left = done > 0 ? time_left_text(elapsed * (1 - done) / done) : std::string();
      fmt::print(stderr, "\r  [{}{}] {:3.0f} %  {} of {}{}   ", std::string(static_cast<std::size_t>(bars), '='),
                 std::string(static_cast<std::size_t>(kWidth - bars), ' '), done * 100,
                 report::time_text(std::min(at, end) - Instant{}), report::time_text(end - Instant{}), left);
    }
    std::fflush(stderr);
    visible_ = true;
  }
  void clear() {
    if (visible_) fmt::print(stderr, "\r{:100}\r", "");
    visible_ = false;
  }

 private:
  bool wanted_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_{};
};

// "leaf1:3=file.pcapng", "leaf1:3:in=file.pcapng"
lab::CaptureRequest parse_capture(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size())
    throw CLI::ValidationError("--capture", fmt::format("'{}': expected PORT=FILE, e.g. leaf1:3=leaf1-3.pcapng", text));
  std::string port = text.substr(0, equals);
  lab::CaptureRequest request;
  request.file = text.substr(equals + 1);
  if (request.file == "-") request.file = "/dev/stdout";
  for (const auto& [suffix, direction] :
       {std::pair{":in", CaptureDirection::kIn}, std::pair{":out", CaptureDirection::kOut}})
    if (port.ends_with(suffix)) {
      port.resize(port.size() - std::char_traits<char>::length(suffix));
      request.direction = direction;
    }
  const auto name = spec::parse_port_name(port);
  if (!name) throw CLI::ValidationError("--capture", fmt::format("'{}': {}", text, name.error()));
  request.port = *name;
  return request;
}

constexpr Duration kSeriesEvery{10'000'000};
constexpr Duration kMetricsEvery{1'000'000'000};

Duration parse_every(const std::string& text, const char* option = "--series-every") {
  const auto every = spec::parse_duration(text);
  if (!every || *every <= Duration{})
    throw CLI::ValidationError(option,
                               fmt::format("'{}': {}", text, every ? "expected a time above 0" : every.error()));
  return *every;
}

// The options that are a --set in other words.
std::vector<std::string> overrides(const RunOptions& o) {
  std::vector<std::string> sets = o.sets;
  if (!o.clock.empty()) sets.push_back("run.clock=" + o.clock);
  if (!o.seed.empty()) sets.push_back("run.seed=" + o.seed);
  if (!o.workers.empty()) sets.push_back("run.workers=" + o.workers);
  if (!o.duration.empty()) sets.push_back("run.duration=" + o.duration);
  if (!o.scale.empty()) sets.push_back("run.scale=" + o.scale);
  if (!o.payload.empty()) sets.push_back("run.payload=" + o.payload);
  if (!o.trace.empty()) sets.push_back("run.timeline=true");
  if (!o.int_one_in.empty()) sets.push_back("run.int.one-in=" + o.int_one_in);
  return sets;
}

// What somebody else types for the same run.
std::string command_of(const RunOptions& o) {
  std::string text = "railyard run " + report::shell_word(o.file);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, report::shell_word(value));
  };
  for (const std::string& s : o.sets) add("--set", s);
  for (const std::string& f : o.faults) add("--fault", f);
  add("--clock", o.clock);
  add("--seed", o.seed);
  add("--workers", o.workers);
  add("--duration", o.duration);
  add("--scale", o.scale);
  add("--payload", o.payload);
  add("--series", o.series);
  add("--series-every", o.series_every);
  add("--trace", o.trace);
  add("--flow-series", o.flow_series);
  add("--metrics", o.metrics);
  add("--metrics-every", o.metrics_every);
  if (o.metrics_stretch != 1) add("--metrics-stretch", std::to_string(o.metrics_stretch));
  add("--int", o.int_file);
  add("--int-one-in", o.int_one_in);
  add("--replay", o.replay);
  if (o.transients) text += " --transients";
  if (o.memory) text += " --memory";
  if (o.digest) text += " --digest";
  if (o.profile) text += " --profile";
  for (const std::string& e : o.expect) add("--expect", e);
  add("--report", o.report_dir);
  return text;
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

// A report in the forms that are asked for. Its JSON is made once: it is printed, and the doctor looks at it.
struct Printed {
  std::string json;
  std::vector<doctor::Found> causes;
  std::string text;
};
Printed printed(const report::Report& report, const telemetry::MemoryWatch& memory, const ScalingProfile* profile, bool as_json,
                bool as_text) {
  Printed out;
  if (!as_json && !as_text) return out;
  nlohmann::ordered_json value = report.value();
  add_more(memory, profile, value);
  if (as_json) out.json = json_text(value, 2);
  if (!as_text) return out;
  out.causes = report::findings(std::move(value), report.run.name);
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

// Takes a step in which each of several processes may fail: then all end, and one says why.
template <class Step>
void together(Peers* peers, Step step) {
  if (peers == nullptr) return step();
  std::exception_ptr error;
  try {
    step();
  } catch (...) {
    error = std::current_exception();
  }
  lab::meet(*peers, error);
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

// The other processes only run their devices. What --trace asks of the lab, they do too.
RunOptions without_results(RunOptions o) {
  o.quiet = true;
  o.json = false;
  for (std::string* file : {&o.report_dir, &o.junit, &o.flow_csv, &o.steps, &o.requests, &o.fault_log, &o.trace})
    file->clear();
  return o;
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
  const RunOptions o = speaks ? asked : without_results(asked);
  const bool captures = std::ranges::any_of(o.captures, [](const std::string& c) { return c.ends_with("=-"); });
  std::string taker;
  if (speaks)
    taker = taker_of_standard_output({{"--capture", captures ? "-" : ""},
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
  lab::SessionOptions options;
  // Before the run, which would be lost otherwise.
  std::optional<ResultFile> junit, flow_csv, steps, requests, trace, fault_log;
  if (!o.junit.empty()) junit.emplace(o.junit, "--junit");
  if (!o.flow_csv.empty()) flow_csv.emplace(o.flow_csv, "--flow-csv");
  if (!o.steps.empty()) steps.emplace(o.steps, "--steps");
  if (!o.requests.empty()) requests.emplace(o.requests, "--requests");
  if (!o.trace.empty()) trace.emplace(o.trace, "--trace");
  if (!o.fault_log.empty()) fault_log.emplace(o.fault_log, "--fault-log");
  options.peers = peers.get();
  // With its fix it does not show any more what the file says.
  const std::vector<std::string>& fix = spec.diagnosis.set;
  const auto is_set = [&](const std::string& set) { return std::ranges::find(o.sets, set) != o.sets.end(); };
  if (!fix.empty() && std::ranges::all_of(fix, is_set)) spec.diagnosis = {};
  Progress progress(!o.quiet);
  options.spec_file = o.file;
  options.command = command_of(o);
  options.lab_digest = spec::lab_digest(spec);
  options.digest = o.digest;
  if (o.profile && spec.run.workers != 1)
    throw CLI::ValidationError("--profile", fmt::format("found with {} workers; expected one: it estimates what more would bring", spec.run.workers));
  if (o.profile && spec.run.clock == spec::Clock::kWall) throw CLI::ValidationError("--profile", "needs the virtual clock");
  options.profile = o.profile;
  options.transients = o.transients;
  for (const std::string& c : o.captures) options.captures.push_back(parse_capture(c));
  if (!o.series.empty() || !o.flow_series.empty())
    options.series = {o.series, o.series_every.empty() ? kSeriesEvery : parse_every(o.series_every), o.flow_series};
  else if (!o.series_every.empty())
    throw CLI::ValidationError("--series-every", "needs --series or --flow-series");
  if (!o.metrics.empty())
    options.metrics = {o.metrics, o.metrics_every.empty() ? kMetricsEvery : parse_every(o.metrics_every, "--metrics-every"),
                       o.metrics_stretch};
  if (!o.int_file.empty()) {
    options.int_file = o.int_file;
    if (!spec.run.in_band) spec.run.in_band.emplace();
  }
  if (!o.replay.empty()) options.replayed_faults = fault::read_log(spec::read_file(o.replay), o.replay);
  telemetry::MemoryWatch memory;
  options.progress = [&](Instant at, Instant end) {
    progress.show(at, end);
    if (o.memory) memory.look(wall_seconds(), seconds(at - Instant{}));
  };
  const bool live = spec.run.clock == spec::Clock::kWall;
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
    if (live) throw CLI::ValidationError("--web", "needs the virtual clock; `railyard up --web` shows a live lab");
    page.emplace(session, web::page());
    fmt::print(stderr, "railyard: the run is shown at {}\n  The link works once. Token: {}\n", page->new_link(), page->token());
  }
  if (!o.report_dir.empty()) {
    make_directory(o.report_dir, "--report");
    if (session.in_band().running() && o.int_file.empty())
      session.write_int((std::filesystem::path(o.report_dir) / "int.jsonl").string(), "--report");
  }
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
  if (flow_csv) keep([&] { flow_csv->write(report::flow_csv(report)); });
  if (steps) keep([&] { steps->write(report::step_csv(report)); });
  if (requests) keep([&] { requests->write(report::request_csv(report)); });
  if (trace) keep([&] { trace->write(timeline::trace_events(session.lab())); });
  if (fault_log) keep([&] { fault_log->write(log_of(session)); });
  if (junit) keep([&] { junit->write(report::junit_xml({report::junit_suite(report)})); });
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
