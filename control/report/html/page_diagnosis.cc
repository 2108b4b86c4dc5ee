// Of a lab that shows a failure: symptom, cause, fix.
#include <utility>

#include <fmt/format.h>

#include "control/report/diagnosis_text.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"

namespace railyard::report {

std::string diagnosis_section(const Report& r) {
  const spec::DiagnosisSpec& d = r.run.diagnosis;
  if (d.empty()) return {};
  std::string out;
  for (const auto& [title, text] : {std::pair{"Symptom", &d.symptom}, {"Cause", &d.cause}, {"Fix", &d.fix}})
    out += paragraph(fmt::format("<b>{}:</b> {}", title, escaped_html(*text)));
  std::string evidence;
  for (const Expectation& e : r.evidence)
    evidence += fmt::format("{}: {}{}\n", e.text, e.found_text, e.where.empty() ? "" : " (" + e.where + ")");
  if (!evidence.empty()) out += fmt::format("<p><b>Evidence:</b></p>\n<pre>{}</pre>\n", escaped_html(evidence));
  if (const std::string command = healed_command(r.run); !command.empty())
    out += fmt::format("<pre>{}</pre>\n", escaped_html(command));
  return out;
}

}  // namespace railyard::report
