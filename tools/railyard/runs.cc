#include "tools/railyard/runs.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "control/sweep/processes.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/eta.h"

namespace railyard::tools {
namespace {

// What the verdict of its report says.
std::string unverified(const std::string& output) {
  const auto report = nlohmann::ordered_json::parse(output, nullptr, false);
  std::string text;
  if (!report.is_discarded())
    for (const auto& verdict : report["verdicts"])
      if (verdict["verdict"] == "fail" && (verdict["name"] == "completion" || verdict["name"] == "data"))
        text += (text.empty() ? "" : "; ") + verdict["text"].get<std::string>();
  return text.empty() ? "not all was carried" : text;
}

// `report`: what it printed.
std::string failure_of(const sweep::Ended& ended, nlohmann::ordered_json& report) {
  if (ended.exit_code == kUnbalanced) return "the books do not balance";
  if (ended.exit_code == kUnverified) return unverified(ended.output);
  if (ended.exit_code != kOk) return ended.error.empty() ? fmt::format("ended with {}", ended.exit_code) : ended.error;
  report = nlohmann::ordered_json::parse(ended.output, nullptr, false);
  return report.is_discarded() ? "its report is not whole" : "";
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

void run_all(const std::vector<std::vector<std::string>>& runs, std::size_t parallel, bool shows,
             const std::function<void(RunResult)>& done) {
  std::vector<std::vector<std::string>> commands;
  for (const std::vector<std::string>& run : runs) {
    std::vector<std::string>& command = commands.emplace_back();
    command = {"/proc/self/exe", "run"};
    command.insert(command.end(), run.begin(), run.end());
    command.insert(command.end(), {"--json", "--quiet"});
  }
  std::size_t ended_runs = 0;
  const auto began = std::chrono::steady_clock::now();
  sweep::run_all(
      commands, parallel != 0 ? parallel : std::max(1u, std::thread::hardware_concurrency()), [&](sweep::Ended ended) {
        if (shows) {
          ++ended_runs;
          const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
          fmt::print(stderr, "\r  {} of {} runs{}   ", ended_runs, runs.size(),
                     time_left_text(elapsed * static_cast<double>(runs.size() - ended_runs) /
                                    static_cast<double>(ended_runs)));
        }
        RunResult result{ended.index, ended.exit_code, {}, {}};
        result.failure = failure_of(ended, result.report);
        done(std::move(result));
      });
  if (shows) fmt::print(stderr, "\r{:60}\r", "");
}

}  // namespace railyard::tools
