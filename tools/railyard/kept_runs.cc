#include "tools/railyard/kept_runs.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/base/exit_code.h"
#include "control/lab/version.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"
#include "dataplane/base/hash.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

constexpr const char* kSchema = "railyard-kept-run/1";

std::string all_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

KeptRuns::KeptRuns(std::filesystem::path folder, const std::string& option) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error || !std::filesystem::is_directory(folder_))
    throw std::runtime_error(fmt::format("{}: {} is not a folder and cannot be created", option, folder_.string()));
  if (access(folder_.c_str(), R_OK | W_OK | X_OK) != 0)
    throw std::runtime_error(fmt::format("{}: no permission to read and write {}", option, folder_.string()));
}

std::optional<std::filesystem::path> KeptRuns::file_of(const std::vector<std::string>& run) const {
  std::vector<std::string> sets;
  std::string said;
  for (std::size_t i = 1; i < run.size(); ++i) {
    said += "\n" + run[i];
    if (run[i] == "--set" && i + 1 < run.size()) sets.push_back(run[i + 1]);
  }
  try {
    said += "\n" + spec::lab_digest(spec::load(run[0], sets));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  // What is no part of the digest, such as expectations.
  said += "\n" + all_of(run[0]);
  return file_named_by(said);
}

std::filesystem::path KeptRuns::file_named_by(const std::string& said) const {
  return folder_ / fmt::format("{:016x}.json", hash_string(lab::version() + said));
}

std::optional<scheduler::Ended> KeptRuns::read(const std::filesystem::path& file) {
  const auto json = nlohmann::json::parse(all_of(file), nullptr, false);
  if (!json.is_object() || json.value("schema", "") != kSchema) return std::nullopt;
  return scheduler::Ended{0, json.value("exit_code", -1), json.value("report", ""), json.value("error", ""), false};
}

void KeptRuns::keep(const std::filesystem::path& file, const scheduler::Ended& ended) {
  if (ended.exit_code != kOk && ended.exit_code != kUnverified && ended.exit_code != kMissed) return;
  ResultFile(file, "--resume")
      .write(nlohmann::ordered_json{{"schema", kSchema}, {"exit_code", ended.exit_code}, {"error", ended.error}, {"report", ended.output}}.dump() + "\n");
}

void add_resume_option(CLI::App& command, std::string& folder) {
  command
      .add_option("--resume", folder,
                  "Store the report of each run in FOLDER, and reuse reports that are there: resumes an interrupted command")
      ->type_name("FOLDER");
}

std::optional<KeptRuns> kept_runs(const std::string& folder) {
  return folder.empty() ? std::nullopt : std::optional<KeptRuns>(std::in_place, folder, "--resume");
}

}  // namespace railyard::tools
