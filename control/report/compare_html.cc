// Two runs side by side as one page.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "control/report/compare.h"
#include "control/report/html/comparison_table.h"
#include "control/report/html/markup.h"
#include "control/report/html/style.h"

namespace railyard::report {

std::string Comparison::html() const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"/><title>{0} and {1} · compared · Railyard</title>"
      "<style>{2}{3}</style></head>\n<body>\n<h1>Two runs compared</h1>\n",
      escaped_html(name_a), escaped_html(name_b), kStyle, kComparisonStyle);
  out += paragraph(fmt::format("a: {} · b: {}. Changes are from a to b. A star marks the better value of a row.",
                               escaped_html(name_a), escaped_html(name_b)),
                   "lead");
  if (settings) {
    Table keys({{"setting", true}, {"a", true}, {"b", true}});
    for (const spec::Difference& d : *settings) keys.row({d.path, d.from, d.to});
    out += section("settings", "Settings that differ",
                   keys.empty() ? paragraph("None: both runs have the same settings.") : keys.html());
  }
  if (!unknown_labs.empty()) {
    std::string why;
    for (const std::string& line : unknown_labs) why += paragraph(escaped_html(line));
    out += section("settings", "Settings that differ: unknown", why);
  }
  Table conditions({{"condition", true}, {"a", true}, {"b", true}, {"", true}});
  for (const Difference& d : shown_differences())
    conditions.row({d.what, d.a, d.b, d.incomparable ? "" : "minor"});
  if (!conditions.empty()) out += section("conditions", "Conditions that differ", conditions.html());
  ComparisonTable table({"a", "b"});
  for (const Row& r : rows) {
    const double most = std::max(std::abs(r.a.value_or(0)), std::abs(r.b.value_or(0)));
    const auto better = r.better();
    const auto cell = [&](const std::optional<double>& v, bool is_b) {
      ComparisonTable::Cell c;
      if (!v) return c;
      c.value = figure_text(*v, r.kind.unit);
      c.best = better && *better == is_b;
      c.length = most > 0 ? std::abs(*v) / most : 0;
      if (const auto change = r.change(); is_b && change && *change != 0) c.change = change_text(*change);
      return c;
    };
    table.row(r.name, std::string(r.kind.meaning), {cell(r.a, false), cell(r.b, true)});
  }
  out += section("figures", "Figures", table.html());
  for (const std::string& line : less_lines()) out += paragraph(escaped_html(line));
  return out + "</body></html>\n";
}

}  // namespace railyard::report
