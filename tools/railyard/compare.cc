// `railyard compare`: two reports side by side.
#include "control/report/compare.h"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "control/base/json_text.h"
#include "control/bench/compare.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  bool json = false;
  std::string html;
};

int compare_benchmarks(const CompareOptions& o) {
  if (!o.html.empty())
    throw std::invalid_argument("--html: results of railyard bench have no page; expected --json, or no option");
  const auto a = bench::read_result(o.a);
  const auto b = bench::read_result(o.b);
  const bench::ResultComparison c = bench::compare(a, b, o.a, o.b);
  if (o.json)
    std::puts(json_text(c.json(), 2).c_str());
  else
    std::fputs(c.text().c_str(), stdout);
  return kOk;
}

int compare_reports(const CompareOptions& o) {
  if (bench::is_result(o.a)) return compare_benchmarks(o);
  const std::string taker = taker_of_standard_output({{"--html", o.html}}, o.json);
  const auto a = report::read_report(o.a);  // the first that cannot be read is named, whichever compiler made this
  const auto b = report::read_report(o.b);
  report::Comparison c = report::compare(a, b, o.a, o.b);
  report::compare_labs(c, report::lab_of(o.a, a), report::lab_of(o.b, b));
  if (!o.html.empty()) write_file(o.html, c.html(), "--html");
  if (o.json)
    std::puts(json_text(c.json(), 2).c_str());
  else if (taker.empty())
    std::fputs(c.text().c_str(), stdout);
  return kOk;
}

}  // namespace

void add_compare(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<CompareOptions>();
  command->add_option("A", o->a, "report.json, a directory written by `railyard run --report`, or results of `railyard bench`")->required();
  command->add_option("B", o->b, "The report to compare with")->required();
  command->add_flag("--json", o->json, "Print it as JSON");
  command->add_option("--html", o->html, "Write an HTML page, too; -: standard output, instead of the text")
      ->type_name("FILE");
  command->footer(
      "It lists every setting that differs, with both values, if both reports have their lab.yaml in their "
      "directories\n"
      "(--report). A lab.yaml of another run is not used.\n"
      "Results of `railyard bench` are compared case by case; a case whose comparability set differs gets no change.\n"
      "Examples:\n"
      "  railyard run LAB.yaml --report before\n"
      "  railyard run LAB.yaml --set qos.default.classes.3.path=spray --report after\n"
      "  railyard compare before after\n"
      "  railyard compare before after --html compare.html\n"
      "  railyard compare before after --json | jq '.figures[] | select(.better == \"a\")'");
  command->callback([o, &exit_code] { exit_code = compare_reports(*o); });
}

}  // namespace railyard::tools
