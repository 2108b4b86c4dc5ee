// What the doctor finds: cause, evidence, remedy.
#include <algorithm>

#include <fmt/format.h>

#include "control/report/doctor_text.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"

namespace railyard::report {

std::string doctor_section(const std::vector<doctor::Found>& found) {
  constexpr std::size_t kMost = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) {
    const auto& [rule, d] = found[i];
    out += paragraph(fmt::format("<b>{} at {}</b> ({:.0f} % sure): {}", rule->id, escaped_html(d.element),
                                 d.confidence * 100, escaped_html(rule->finds)));
    std::string evidence;
    for (const std::string& line : d.evidence) evidence += line + "\n";
    out += fmt::format("<pre>{}</pre>\n", escaped_html(evidence));
    out += paragraph(fmt::format("<b>What to do:</b> {} <b>It is something else if:</b> {}", escaped_html(rule->remedy),
                                 escaped_html(rule->refutes)));
  }
  if (found.size() > kMost) out += paragraph(fmt::format("And {} more.", found.size() - kMost));
  return out;
}

}  // namespace railyard::report
