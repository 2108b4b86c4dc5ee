#include "control/report/html/markup.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/picture/xml.h"

namespace railyard::report {

namespace {

constexpr std::size_t kMostOnOneLine = 24;  // longer texts wrap

}  // namespace

std::string escaped_html(std::string_view text) { return picture::escaped(text); }

void Table::row(std::vector<std::string> cells) { row(std::move(cells), {}); }

void Table::row(std::vector<std::string> cells, std::string_view style) {
  ++rows_;
  body_ += style.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", style);
  for (std::size_t i = 0; i < cells.size(); ++i)
    body_ += fmt::format("<td{}>{}</td>",
                         i >= columns_.size() || !columns_[i].text ? ""
                         : cells[i].size() > kMostOnOneLine        ? " class=\"t long\""
                                                                   : " class=\"t\"",
                         escaped_html(cells[i]));
  body_ += "</tr>\n";
}

std::string Table::html(std::string_view note) const {
  if (rows_ == 0) return {};
  std::string out = "<div class=\"wide\"><table>";
  // Tables of names and values need no headings.
  const bool has_head = std::ranges::any_of(columns_, [](const Column& c) { return !c.title.empty(); });
  if (has_head) out += "<thead><tr>";
  for (std::size_t i = 0; has_head && i < columns_.size(); ++i) {
    const Column& c = columns_[i];
    out += fmt::format("<th{}{}>{}</th>", c.text ? " class=\"t\"" : "",
                       c.hint.empty() ? std::string() : fmt::format(" title=\"{}\"", escaped_html(c.hint)),
                       escaped_html(c.title));
  }
  out += (has_head ? "</tr></thead><tbody>\n" : "<tbody>\n") + body_ + "</tbody></table></div>\n";
  if (!note.empty()) out += paragraph(note, "note");
  return out;
}

std::string section(std::string_view id, std::string_view title, std::string_view content) {
  if (content.empty()) return {};
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, escaped_html(title), content);
}

std::string paragraph(std::string_view content, std::string_view style) {
  return style.empty() ? fmt::format("<p>{}</p>\n", content) : fmt::format("<p class=\"{}\">{}</p>\n", style, content);
}

}  // namespace railyard::report
