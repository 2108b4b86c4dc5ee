#include "tools/railyard/runs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "control/scheduler/scheduler.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/count_progress.h"

namespace railyard::tools {
namespace {

// What the verdicts of its report say.
std::string unverified(const nlohmann::ordered_json& report) {
  std::string text;
  for (const auto& verdict : report["verdicts"])
    for (const char* name : {"completion", "data", "deadlock"})
      if (verdict["verdict"] == "fail" && verdict["name"] == name)
        text += (text.empty() ? "" : "; ") + verdict["text"].get<std::string>();
  return text.empty() ? "traffic is incomplete" : text;
}

// Whether all that is wrong is that flows with an end did not come to it, none of which failed. Figures of such a run
// are right; the table says how many completed.
bool is_only_unfinished(const nlohmann::ordered_json& report) {
  for (const auto& verdict : report["verdicts"])
    if (verdict["verdict"] == "fail" && (verdict["name"] == "data" || verdict["name"] == "deadlock")) return false;
  const auto failed = report["summary"].find("failed_flows");
  if (failed != report["summary"].end() && failed->is_number() && failed->get<double>() > 0) return false;
  return std::ranges::all_of(report["collectives"], [](const auto& c) { return c["completed"].template get<bool>(); });
}

// `report`: what it printed.
std::string failure_of(const scheduler::Ended& ended, nlohmann::ordered_json& report) {
  if (ended.exit_code == kUnbalanced) return "packet accounting does not balance";
  if (ended.exit_code != kOk && ended.exit_code != kUnverified && ended.exit_code != kMissed)
    return ended.error.empty() ? fmt::format("ended with {}", ended.exit_code) : ended.error;
  report = nlohmann::ordered_json::parse(ended.output, nullptr, false);
  if (report.is_discarded()) return "its report is incomplete";
  return ended.exit_code == kUnverified && !is_only_unfinished(report) ? unverified(report) : "";
}

}  // namespace

void RunDone::add(const RunDone& other) noexcept {
  asked += other.asked;
  complete += other.complete;
}

std::string RunDone::text() const { return complete < asked ? fmt::format("{} of {}", complete, asked) : ""; }

RunDone done_of(const nlohmann::ordered_json& report) {
  RunDone all;
  for (const auto& t : report["traffic"])
    all.add({t["with_end"].get<std::uint64_t>(), t["complete"].get<std::uint64_t>()});
  for (const auto& c : report["collectives"])
    for (const auto& i : c["iterations"]) all.add({1, i["time_ns"].is_null() ? 0u : 1u});
  return all;
}

ExitCode exit_code_of(const RunResult& run) noexcept {
  for (const ExitCode code : {kUnbalanced, kUnverified, kMissed})
    if (run.exit_code == code) return code;
  return run.failure.empty() ? kOk : kFailed;
}

std::vector<std::string> missed(const nlohmann::ordered_json& report) {
  std::vector<std::string> lines;
  if (const auto all = report.find("expectations"); all != report.end())
    for (const auto& e : *all)
      if (!e["met"].get<bool>()) {
        const auto where = e["where"].get<std::string>();
        lines.push_back(fmt::format("found {}{}, expected {}", e["found_text"].get<std::string>(),
                                    where.empty() ? "" : " (" + where + ")", e["expected"].get<std::string>()));
      }
  return lines;
}

void run_all(const std::vector<std::vector<std::string>>& runs, const HowToRun& how, const std::function<void(RunResult)>& done) {
  const auto hand_over = [&](std::size_t index, const scheduler::Ended& ended) {
    RunResult result{index, ended.exit_code, {}, {}};
    result.failure = failure_of(ended, result.report);
    done(std::move(result));
  };
  std::vector<std::vector<std::string>> commands;
  std::vector<std::size_t> number;  // of commands: the run that each is
  std::vector<std::optional<std::filesystem::path>> file;  // where it is kept
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto kept_at = how.kept != nullptr ? how.kept->file_of(runs[i]) : std::nullopt;
    if (const auto before = kept_at ? KeptRuns::read(*kept_at) : std::nullopt) {
      hand_over(i, *before);
      continue;
    }
    std::vector<std::string>& command = commands.emplace_back();
    command = {"/proc/self/exe", "run"};
    command.insert(command.end(), runs[i].begin(), runs[i].end());
    command.insert(command.end(), {"--json", "--quiet"});
    number.push_back(i);
    file.push_back(std::move(kept_at));
  }
  CountProgress progress("runs", commands.size(), runs.size() - commands.size(), how.shows);
  scheduler::run_all(commands, {.parallel = how.parallel, .seconds = 0}, [&](const scheduler::Ended& ended) {
    progress.one_more();
    if (const auto& where = file[ended.index]) KeptRuns::keep(*where, ended);
    hand_over(number[ended.index], ended);
    return true;
  });
}

}  // namespace railyard::tools
