// What the command line of `railyard run` says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/lab/session.h"
#include "control/spec/spec.h"

namespace railyard::tools {

// As typed; empty: not given.
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

// The options that are a --set in other words, and those of --set.
std::vector<std::string> overrides(const RunOptions& o);

// What somebody else types for the same run.
std::string command_of(const RunOptions& o);

// Those of a process that is not the first of several: it only runs its devices. What --trace asks of the lab stays.
RunOptions without_results(RunOptions o);

// What they ask of the session of `spec`, without peers and without what is called while it runs. With --int, `spec`
// gets in-band telemetry. Throws CLI::ValidationError, which names the option, or spec::SpecError for a log to replay.
lab::SessionOptions session_options(const RunOptions& o, spec::Lab& spec);

}  // namespace railyard::tools
