// A comparison as one page.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/compare/side_by_side.h"
#include "control/report/html/chart.h"
#include "control/report/html/comparison_table.h"
#include "control/report/html/markup.h"
#include "control/report/html/style.h"
#include "control/report/units.h"

namespace railyard::compare {
namespace {

// To the report of each run.
std::string links_html(const SideBySide& all, const SideBySide::Block& block) {
  std::string text;
  for (std::size_t c = 0; c < block.reports.size(); ++c)
    for (std::size_t i = 0; i < block.reports[c].size(); ++i)
      text += fmt::format("{}<a href=\"{}/report.html\">{}{}</a>", text.empty() ? "Reports: " : " · ",
                          report::escaped_html(block.reports[c][i]), report::escaped_html(all.columns[c].name),
                          block.reports[c].size() > 1 && i < all.seeds.size() ? fmt::format(" (seed {})", all.seeds[i])
                                                                              : std::string());
  return text.empty() ? text : report::paragraph(text);
}

// A table whose first row is its head.
std::string rows_html(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::vector<report::Table::Column> head;
  for (const std::string& name : rows.front()) head.push_back({name, true});
  report::Table table(std::move(head));
  for (std::size_t i = 1; i < rows.size(); ++i) table.row(rows[i]);
  return table.html();
}

std::string settings_html(const std::vector<std::vector<std::string>>& rows) {
  return rows.empty() ? std::string() : "<h3>Settings that differ</h3>\n" + rows_html(rows);
}

std::string distributions_html(const SideBySide& all, const SideBySide::Block& block) {
  std::string out;
  for (const SideBySide::Distribution& d : block.distributions) {
    report::Chart chart;
    chart.title = d.name + ", as a distribution";
    chart.x = {"time", true, [](double v) { return report::nanoseconds_text(static_cast<std::uint64_t>(v)); }};
    // 1 - F on a scale of nines.
    chart.y = {"share, at or below", false, [](double nines) {
                 static constexpr const char* kWords[] = {"0", "90 %", "99 %", "99.9 %", "99.99 %"};
                 return std::string(kWords[std::clamp(static_cast<int>(std::lround(nines)), 0, 4)]);
               }};
    for (std::size_t c = 0; c < d.points.size() && chart.lines.size() < report::kMostLines; ++c) {
      if (d.points[c].empty()) continue;
      report::Line line{all.columns[c].name, {}, false};
      for (const auto& [part, ns] : d.points[c])
        line.points.emplace_back(std::max(ns, 1.0), std::min(4.0, -std::log10(std::max(1e-4, 1 - part))));
      chart.lines.push_back(std::move(line));
    }
    if (const std::string drawn = report::chart_html(chart); !drawn.empty())
      out += fmt::format("<h3>{}: distribution</h3>\n", report::escaped_html(d.name)) + drawn;
  }
  return out;
}

}  // namespace

std::string SideBySide::table_html(const Block& block) const {
  std::vector<std::string> heads;
  for (const Column& c : columns) heads.push_back(c.name);
  report::ComparisonTable table(std::move(heads));
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const std::vector<std::size_t> winners = best(block, m);
    double most = 0;
    for (const sweep::Cell& cell : block.cells[m]) most = std::max(most, std::abs(cell.median().value_or(0)));
    std::vector<report::ComparisonTable::Cell> line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      report::ComparisonTable::Cell& cell = line.emplace_back();
      const auto median = block.cells[m][c].median();
      if (!median) continue;
      cell.value = value_text(block, m, c);
      cell.change = change_text_of(block, m, c);
      cell.best = std::ranges::find(winners, c) != winners.end();
      cell.length = most > 0 ? std::abs(*median) / most : 0;
    }
    table.row(sweep::name_of_metric(metrics[m]), std::string(kind(m).meaning), line);
  }
  return table.html();
}

std::string SideBySide::meanings_html() const {
  report::Table meanings({{"figure", true}, {"meaning", true}, {"better", true}});
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const report::FigureKind k = kind(m);
    if (k.meaning.empty()) continue;
    meanings.row({sweep::name_of_metric(metrics[m]), std::string(k.meaning),
                  k.better == report::Better::kLower    ? "lower"
                  : k.better == report::Better::kHigher ? "higher"
                                                        : ""});
  }
  return meanings.empty()
             ? std::string()
             : meanings.html(
                   "(n of m): n of m flows and collective iterations completed; the figure covers these only.");
}

std::string SideBySide::html() const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"/><title>{0} · transports compared · Railyard</title>"
      "<style>{1}{2}</style></head>\n<body>\n<h1>{0}: transports compared</h1>\n",
      report::escaped_html(spec), report::kStyle, report::kComparisonStyle);
  out += report::paragraph(
      fmt::format("The fabric, traffic, faults and seeds ({}) are the same in all columns. Percentages are against {}. "
                  "The best of a row has a star.",
                  fmt::join(seeds, ", "), report::escaped_html(columns.front().name)),
      "lead");
  const bool same_facts = has_same_facts();
  const bool same_settings = has_same_settings();
  if (same_facts && !blocks.empty()) out += rows_html(facts_rows(blocks.front()));
  for (const std::string& line : method.empty() ? std::vector<std::string>{} : method.lines())
    out += report::paragraph(report::escaped_html(line));
  if (search) out += report::paragraph(report::escaped_html(search->text()));
  for (const std::string& note : notes) out += report::paragraph("Note: " + report::escaped_html(note));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    std::string failures;
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const std::string& failure : block.failures[c])
        failures += report::paragraph(report::escaped_html(fmt::format("FAILED {}: {}", columns[c].name, failure)));
    const std::vector<bool> less = block.less();
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (less[c])
        failures += report::paragraph(report::escaped_html(fmt::format(
            "{} delivered less than another column ({}): no star", columns[c].name, block.delivery[c].text())));
    out += report::section(fmt::format("block{}", b + 1),
                           block.over.empty() ? "Figures" : fmt::format("{}", fmt::join(block.over, ", ")),
                           (same_facts ? std::string() : rows_html(facts_rows(block))) + table_html(block) + failures +
                               links_html(*this, block) + distributions_html(*this, block) +
                               (same_settings ? std::string() : settings_html(settings_rows(block))));
  }
  out += report::section("meanings", "Figures explained", meanings_html());
  if (same_settings && !blocks.empty())
    if (const std::string differing = rows_html(settings_rows(blocks.front())); !differing.empty())
      out += report::section("settings", "Settings that differ", differing);
  return out + "</body></html>\n";
}

}  // namespace railyard::compare
