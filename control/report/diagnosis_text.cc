#include "control/report/diagnosis_text.h"

#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "control/report/shell_word.h"

namespace railyard::report {
namespace {

constexpr std::size_t kWidth = 110;  // columns

// In lines of up to kWidth columns, the first behind a title.
std::string paragraph_of(std::string_view title, const std::string& sentences) {
  constexpr std::string_view kIndent = "           ";
  std::string out = fmt::format("  {:<9}", fmt::format("{}:", title));
  std::size_t column = out.size();
  std::istringstream words(sentences);
  for (std::string word; words >> word;) {
    if (column + 1 + word.size() > kWidth) {
      out += fmt::format("\n{}", kIndent);
      column = kIndent.size();
    }
    const bool first = column == kIndent.size();
    out += first ? word : " " + word;
    column += word.size() + (first ? 0 : 1);
  }
  return out + "\n";
}

}  // namespace

std::string healed_command(const RunInfo& run) {
  if (run.diagnosis.set.empty()) return {};
  std::string command = fmt::format("railyard run {}", shell_word(run.spec));
  for (const std::string& set : run.diagnosis.set) command += fmt::format(" --set {}", shell_word(set));
  return command;
}

std::string diagnosis_text(const Report& report) {
  const RunInfo& run = report.run;
  std::string text = "Diagnosis\n";
  text += paragraph_of("Symptom", run.diagnosis.symptom);
  text += paragraph_of("Cause", run.diagnosis.cause);
  for (const Expectation& e : report.evidence)
    text += fmt::format("    {}: {}{}\n", e.text, e.found_text, e.where.empty() ? "" : fmt::format(" ({})", e.where));
  text += paragraph_of("Fix", run.diagnosis.fix);
  if (const std::string command = healed_command(run); !command.empty()) text += fmt::format("    {}\n", command);
  return text;
}

}  // namespace railyard::report
