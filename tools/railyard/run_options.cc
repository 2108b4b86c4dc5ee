#include "tools/railyard/run_options.h"

#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "control/fault/fault_log.h"
#include "control/report/shell_word.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"
#include "control/spec/value.h"

namespace railyard::tools {
namespace {

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

Duration parse_every(const std::string& text, const char* option) {
  const auto every = spec::parse_duration(text);
  if (!every || *every <= Duration{})
    throw CLI::ValidationError(option,
                               fmt::format("'{}': {}", text, every ? "expected a time above 0" : every.error()));
  return *every;
}

}  // namespace

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

RunOptions without_results(RunOptions o) {
  o.quiet = true;
  o.json = false;
  for (std::string* file : {&o.report_dir, &o.junit, &o.flow_csv, &o.steps, &o.requests, &o.fault_log, &o.trace})
    file->clear();
  return o;
}

lab::SessionOptions session_options(const RunOptions& o, spec::Lab& spec) {
  lab::SessionOptions options;
  options.spec_file = o.file;
  options.command = command_of(o);
  options.lab_digest = spec::lab_digest(spec);
  options.digest = o.digest;
  if (o.profile && spec.run.workers != 1)
    throw CLI::ValidationError("--profile", fmt::format("found with {} workers; expected one: it estimates what more would bring", spec.run.workers));
  if (o.profile && spec.run.clock == spec::Clock::kWall) throw CLI::ValidationError("--profile", "needs the virtual clock");
  if (o.web && spec.run.clock == spec::Clock::kWall)
    throw CLI::ValidationError("--web", "needs the virtual clock; `railyard up --web` shows a live lab");
  options.profile = o.profile;
  options.transients = o.transients;
  for (const std::string& c : o.captures) options.captures.push_back(parse_capture(c));
  if (!o.series.empty() || !o.flow_series.empty())
    options.series = {o.series, o.series_every.empty() ? kSeriesEvery : parse_every(o.series_every, "--series-every"), o.flow_series};
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
  return options;
}

}  // namespace railyard::tools
