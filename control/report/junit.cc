#include "control/report/junit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/picture/xml.h"
#include "control/report/judge.h"
#include "control/report/report.h"

namespace railyard::report {
namespace {

using Result = JunitCase::Result;

Result result_of(std::string_view verdict) {
  if (verdict == word(Verdict::Answer::kFail)) return Result::kFailed;
  return verdict == word(Verdict::Answer::kOpen) ? Result::kSkipped : Result::kPassed;
}

std::string case_xml(const JunitCase& c) {
  using picture::escaped;
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(c.kind), escaped(c.name));
  switch (c.result) {
    case Result::kPassed:
      return head + (c.text.empty() ? "/>\n" : fmt::format("><system-out>{}</system-out></testcase>\n", escaped(c.text)));
    case Result::kFailed:
      return head + fmt::format("><failure message=\"{}\"/></testcase>\n", escaped(c.text));
    case Result::kSkipped:
      return head + fmt::format("><skipped message=\"{}\"/></testcase>\n", escaped(c.text));
    case Result::kError:
      return head + fmt::format("><error message=\"{}\"/></testcase>\n", escaped(c.text));
  }
  return "";
}

std::ptrdiff_t count(const JunitSuite& s, Result result) { return std::ranges::count(s.cases, result, &JunitCase::result); }

JunitCase expectation_case(const std::string& text, bool met, const std::string& found, const std::string& where,
                           const std::string& place) {
  return {text, "expect", met ? Result::kPassed : Result::kFailed,
          fmt::format("found {}{}{}{}", found, where.empty() ? "" : fmt::format(" ({})", where),
                      met ? "" : fmt::format(", expected {}", text), place.empty() ? "" : fmt::format(" [{}]", place))};
}

}  // namespace

JunitSuite junit_suite(const Report& r) {
  JunitSuite s{r.run.name, r.engine.wall_seconds, {}};
  for (const Verdict& v : r.verdicts()) s.cases.push_back({v.name, "verdict", result_of(word(v.answer)), v.text});
  for (const Expectation& e : r.expectations)
    s.cases.push_back(expectation_case(e.text, e.met, e.found_text, e.where,
                                       e.place.file.empty() ? std::string() : to_string(e.place)));
  return s;
}

JunitSuite junit_suite(const nlohmann::ordered_json& r, std::string name) {
  JunitSuite s{std::move(name), r["engine"]["wall_seconds"].get<double>(), {}};
  for (const auto& v : r["verdicts"])
    s.cases.push_back({v["name"], "verdict", result_of(v["verdict"].get<std::string>()), v["text"]});
  if (const auto all = r.find("expectations"); all != r.end())
    for (const auto& e : *all)
      s.cases.push_back(expectation_case(e["expected"], e["met"].get<bool>(), e["found_text"], e["where"],
                                         e.value("place", std::string())));
  return s;
}

JunitSuite junit_failure(std::string name, std::string why) {
  return {std::move(name), 0, {{"run", "run", Result::kError, std::move(why)}}};
}

std::string junit_xml(const std::vector<JunitSuite>& suites) {
  std::string body;
  std::ptrdiff_t tests = 0, failures = 0, errors = 0, skipped = 0;
  for (const JunitSuite& s : suites) {
    const auto failed = count(s, Result::kFailed);
    const auto broken = count(s, Result::kError);
    const auto open = count(s, Result::kSkipped);
    body += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
        picture::escaped(s.name), s.cases.size(), failed, broken, open, s.seconds);
    for (const JunitCase& c : s.cases) body += case_xml(c);
    body += "  </testsuite>\n";
    tests += std::ssize(s.cases);
    failures += failed;
    errors += broken;
    skipped += open;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"railyard\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\">\n{}</testsuites>\n",
      tests, failures, errors, skipped, body);
}

}  // namespace railyard::report
