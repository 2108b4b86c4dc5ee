// The report that a manager reads: the result, a line per question, the evidence below.
#include <fmt/format.h>

#include "control/acceptance/table.h"
#include "control/picture/diagram.h"
#include "control/picture/layout.h"
#include "control/picture/svg.h"
#include "control/report/html/markup.h"
#include "control/report/html/style.h"

namespace railyard::acceptance {
namespace {

std::string details(const Result& a) {
  using report::escaped_html;
  std::string out;
  for (const Line& l : a.lines) {
    const Finding& f = l.finding;
    std::string list;
    for (const std::string& line : f.evidence) list += fmt::format("<li>{}</li>\n", escaped_html(line));
    for (const std::string& file : l.files)
      list += fmt::format("<li><code>railyard run {}</code></li>\n", escaped_html(file));
    out += fmt::format("<h3 id=\"{0}\">{1}: {0}</h3>\n", l.item->id, word(f.answer)) +
           report::paragraph(fmt::format("{} {}", l.item->asks, escaped_html(f.found))) +
           report::paragraph(fmt::format(
               "{}Source: {}.", f.threshold.empty() ? "" : fmt::format("Threshold: {}. ", escaped_html(f.threshold)),
               escaped_html(l.item->source)));
    if (!f.remedy.empty()) out += report::paragraph(fmt::format("<b>What to do:</b> {}", escaped_html(f.remedy)));
    if (!list.empty()) out += fmt::format("<ul>\n{}</ul>\n", list);
  }
  return out;
}

}  // namespace

std::string page(const Result& a, const spec::Lab& lab) {
  report::Table table({{"answer", true}, {"line", true}, {"question", true}, {"found", true}, {"threshold", true}});
  for (const Line& l : a.lines)
    table.row({word(l.finding.answer), l.item->id, l.item->asks, l.finding.found, l.finding.threshold},
              l.finding.answer == Answer::kFail ? "bad" : "");
  const picture::Diagram diagram = picture::diagram(lab);
  const picture::Picture picture = picture::layout(diagram, lab, picture::Direction::kDown);
  const std::string title = fmt::format("Acceptance of {}: {}", a.name, word(a.answer()));
  const std::string body =
      report::section(
          "result", report::escaped_html(summary(a)),
          report::paragraph(a.live ? std::string("A running lab: probes of its built-in NICs beside its own traffic, and programs of "
                                                 "its attached hosts.")
                                   : fmt::format("Probes over {}, built-in endpoints, simulated time.", a.transport)) +
              table.html()) +
      report::section("fabric", "The fabric", picture::inline_svg(picture)) +
      report::section("evidence", "Evidence", details(a));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n</html>\n",
      report::escaped_html(title), report::kStyle, body);
}

}  // namespace railyard::acceptance
