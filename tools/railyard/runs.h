// Runs of `railyard run` beside each other, each a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/base/exit_code.h"
#include "tools/railyard/kept_runs.h"

namespace railyard::tools {

struct RunResult {
  std::size_t index = 0;  // of the run
  int exit_code = 0;
  // What is wrong with it; empty: nothing, and there is a report, of whose flows some may not have completed.
  std::string failure;
  nlohmann::ordered_json report;  // of a run that failed too, if it came to one
};

// What a command of several runs ends with for this one.
ExitCode exit_code_of(const RunResult& run) noexcept;

// The expectations that its report says were missed: "found 97.9 Gb/s (flat), expected busbw >= 380Gbps".
std::vector<std::string> missed(const nlohmann::ordered_json& report);

// Of the flows with an end and the repeats of collectives of a run, or of several: how many there were, and how many
// were completed.
struct RunDone {
  std::uint64_t asked = 0;
  std::uint64_t complete = 0;

  void add(const RunDone& other) noexcept;
  std::string text() const;  // "1 of 8"; empty: all were
};
RunDone done_of(const nlohmann::ordered_json& report);

struct HowToRun {
  std::size_t parallel = 0;        // at most so many at a time; 0: one per processor
  bool shows = false;              // how many have ended, and how long the others will take, on standard error
  const KeptRuns* kept = nullptr;  // where results are kept and found; nullptr: nowhere
};

// Each run is what stands behind `railyard run`: a file and options; --json is added. What came of each is handed over as it
// ends.
void run_all(const std::vector<std::vector<std::string>>& runs, const HowToRun& how, const std::function<void(RunResult)>& done);

}  // namespace railyard::tools
