// What came of runs, kept in a folder, so that a command of many runs goes on where it was ended, and several machines share
// its work.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "control/scheduler/scheduler.h"

namespace railyard::tools {

// A run is found again by all that it depends on: the program's version, what its fabric file says and the files that are
// named there (spec/lab_digest.h), and its options. Where the files are does not matter.
class KeptRuns {
 public:
  // Makes `folder` if it is not there. Throws std::runtime_error naming `option`: it cannot be used.
  KeptRuns(std::filesystem::path folder, const std::string& option);

  // The file of a run (of runs.h: a fabric file and options), whether it is there or not. Nothing: the fabric file cannot be
  // loaded, and the run will say why.
  std::optional<std::filesystem::path> file_of(const std::vector<std::string>& run) const;

  // The file of something else that all of `said` is known of, which holds the program's version too.
  std::filesystem::path file_named_by(const std::string& said) const;

  // What a file says; nothing: it is not there, or it is not whole. Its index is 0.
  static std::optional<scheduler::Ended> read(const std::filesystem::path& file);

  // Keeps a run that has come to a report. Those that failed otherwise are tried again. Throws std::runtime_error.
  static void keep(const std::filesystem::path& file, const scheduler::Ended& ended);

  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path folder_;
};

// --resume FOLDER.
void add_resume_option(CLI::App& command, std::string& folder);
// Nothing if it was not said.
std::optional<KeptRuns> kept_runs(const std::string& folder);

}  // namespace railyard::tools
