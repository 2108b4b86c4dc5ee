#include "control/acceptance/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace railyard::acceptance {

Answer Result::answer() const noexcept {
  const auto any = [&](Answer a) {
    return std::ranges::any_of(lines, [&](const Line& l) { return l.finding.answer == a; });
  };
  if (any(Answer::kFail)) return Answer::kFail;
  if (any(Answer::kBroken)) return Answer::kBroken;
  return any(Answer::kWarn) ? Answer::kWarn : Answer::kPass;
}

std::string summary(const Result& a) {
  const auto count = [&](Answer answer) {
    return std::ranges::count_if(a.lines, [&](const Line& l) { return l.finding.answer == answer; });
  };
  std::vector<std::string> parts;
  const auto add = [&](Answer answer, const char* words) {
    if (const auto n = count(answer); n > 0) parts.push_back(fmt::format("{} {}", n, words));
  };
  add(Answer::kPass, "pass");
  add(Answer::kWarn, "warn");
  add(Answer::kFail, "FAIL");
  add(Answer::kReport, "only report");
  add(Answer::kNotRun, "not run");
  add(Answer::kBroken, "broken");
  return fmt::format("{} line{}: {}", a.lines.size(), a.lines.size() == 1 ? "" : "s", fmt::join(parts, ", "));
}

std::string text(const Result& a) {
  std::string out = fmt::format("Acceptance of {} over {}\n\n", a.name, a.transport);
  std::size_t widest = 0;
  for (const Line& l : a.lines) widest = std::max(widest, std::string_view(l.item->id).size());
  for (const Line& l : a.lines) {
    const Finding& f = l.finding;
    out += fmt::format("{:<7}  {:<{}}  {}{}\n", word(f.answer), l.item->id, widest, f.found,
                       f.threshold.empty() ? "" : fmt::format("  [{}]", f.threshold));
    if (f.answer != Answer::kFail && f.answer != Answer::kWarn) continue;
    for (const std::string& line : f.evidence) out += fmt::format("{:{}}{}\n", "", widest + 13, line);
    if (!f.remedy.empty()) out += fmt::format("{:{}}What to do: {}\n", "", widest + 13, f.remedy);
    for (const std::string& file : l.files) out += fmt::format("{:{}}See: railyard run {}\n", "", widest + 13, file);
  }
  return out + fmt::format("\n{}. Result: {}\n", summary(a), word(a.answer()));
}

nlohmann::ordered_json json(const Result& a) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const Line& l : a.lines)
    lines.push_back({{"id", l.item->id},
                     {"question", l.item->asks},
                     {"answer", l.finding.answer == Answer::kFail ? "fail" : word(l.finding.answer)},
                     {"found", l.finding.found},
                     {"threshold", l.finding.threshold},
                     {"source", l.item->source},
                     {"evidence", l.finding.evidence},
                     {"remedy", l.finding.remedy},
                     {"probes", l.files}});
  return {{"schema", "railyard-acceptance/1"},
          {"file", a.file},
          {"name", a.name},
          {"transport", a.transport},
          {"live", a.live},
          {"answer", a.answer() == Answer::kFail ? "fail" : word(a.answer())},
          {"lines", std::move(lines)}};
}

report::JunitSuite junit(const Result& a) {
  using Case = report::JunitCase::Result;
  report::JunitSuite suite{fmt::format("acceptance of {}", a.name), a.seconds, {}};
  for (const Line& l : a.lines) {
    const Answer answer = l.finding.answer;
    suite.cases.push_back(
        {l.item->id, "acceptance",
         answer == Answer::kFail     ? Case::kFailed
         : answer == Answer::kBroken ? Case::kError
         : answer == Answer::kNotRun ? Case::kSkipped
                                     : Case::kPassed,
         l.finding.threshold.empty() ? l.finding.found : fmt::format("{} [{}]", l.finding.found, l.finding.threshold)});
  }
  return suite;
}

}  // namespace railyard::acceptance
