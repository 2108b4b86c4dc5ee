#include "control/report/html/comparison_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/report/html/markup.h"

namespace railyard::report {

void ComparisonTable::row(const std::string& figure, const std::string& hint, const std::vector<Cell>& cells) {
  body_ += fmt::format("<tr><th class=\"t\"{}>{}</th>",
                       hint.empty() ? std::string() : fmt::format(" title=\"{}\"", escaped_html(hint)),
                       escaped_html(figure));
  for (std::size_t c = 0; c < cells.size() && c < columns_.size(); ++c) {
    const Cell& cell = cells[c];
    body_ += fmt::format("<td class=\"v{}\" data-c=\"{}\">{}", cell.best ? " best" : "", escaped_html(columns_[c]),
                         cell.value.empty() ? "-" : escaped_html(cell.value));
    if (!cell.value.empty())
      body_ += fmt::format("<div class=\"len\"><i style=\"width:{:.1f}%\"></i></div>",
                           std::clamp(cell.length, 0.0, 1.0) * 100);
    body_ += fmt::format("</td><td class=\"p\">{}</td><td class=\"s\">{}</td>", escaped_html(cell.change),
                         cell.best ? "<span title=\"the best of its row\">★</span>" : "");
  }
  body_ += "</tr>\n";
}

std::string ComparisonTable::html() const {
  std::string head = "<tr><th></th>";
  for (const std::string& c : columns_) head += fmt::format("<th colspan=\"3\">{}</th>", escaped_html(c));
  return fmt::format("<div class=\"wide\"><table class=\"cmp\"><thead>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
                     head, body_);
}

}  // namespace railyard::report
