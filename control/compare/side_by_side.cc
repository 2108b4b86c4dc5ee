#include "control/compare/side_by_side.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/html/markup.h"
#include "control/report/html/style.h"
#include "control/report/summary.h"

namespace railyard::compare {
namespace {

using OrderedJson = nlohmann::ordered_json;

// "305 us (290 us .. 310 us)"
std::string text_of(const sweep::Cell& cell, report::Unit unit) {
  const auto median = cell.median();
  if (!median) return "-";
  std::string text = report::figure_text(*median, unit);
  if (cell.values.size() > 1 && cell.min() != cell.max())
    text += fmt::format(" ({} .. {})", report::figure_text(cell.min(), unit), report::figure_text(cell.max(), unit));
  return text;
}

std::string change_text(std::optional<double> change) {
  if (!change || *change == 0) return "";
  if (*change >= 9.995) return fmt::format("x {:.3g}", *change + 1);
  return fmt::format("{:+.1f} %", *change * 100);
}

std::string heading_of(const SideBySide::Block& block) { return fmt::format("{}", fmt::join(block.over, ", ")); }

}  // namespace

std::optional<double> SideBySide::change(const Block& block, std::size_t metric, std::size_t c) {
  const auto first = block.cells[metric].front().median();
  const auto here = block.cells[metric][c].median();
  if (c == 0 || !first || !here) return std::nullopt;
  if (*first == *here) return 0;
  if (*first == 0) return std::nullopt;
  return *here / *first - 1;
}

std::vector<std::size_t> SideBySide::best(const Block& block, std::size_t metric) const {
  const report::Better better = sweep::kind_of_metric(metrics[metric], search).better;
  std::vector<std::size_t> out;
  if (better == report::Better::kNeither) return out;
  std::optional<double> found;
  std::size_t eligible = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto median = block.cells[metric][c].median();
    if (!median || !block.failures[c].empty()) continue;
    ++eligible;
    if (found && *median != *found && (better == report::Better::kLower) != (*median < *found)) continue;
    if (!found || *median != *found) out.clear();
    found = median;
    out.push_back(c);
  }
  if (out.size() == eligible) out.clear();
  return out;
}

bool SideBySide::failed() const {
  return std::ranges::any_of(
      blocks, [](const Block& b) { return std::ranges::any_of(b.failures, [](const auto& f) { return !f.empty(); }); });
}

OrderedJson SideBySide::json() const {
  OrderedJson j = {{"spec", spec}, {"seeds", seeds}, {"columns", OrderedJson::array()}};
  for (const Column& c : columns) j["columns"].push_back({{"name", c.name}, {"set", c.sets}});
  if (search) j["search"] = search->json();
  j["blocks"] = OrderedJson::array();
  for (const Block& block : blocks) {
    OrderedJson figures = OrderedJson::object();
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const std::vector<std::size_t> winners = best(block, m);
      OrderedJson row = OrderedJson::array();
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const sweep::Cell& cell = block.cells[m][c];
        const auto median = cell.median();
        if (!median) {
          row.push_back(nullptr);
          continue;
        }
        const auto changed = change(block, m, c);
        row.push_back({{"median", *median},
                       {"min", cell.min()},
                       {"max", cell.max()},
                       {"values", cell.values},
                       {"change", changed ? OrderedJson(*changed) : OrderedJson(nullptr)},
                       {"best", std::ranges::find(winners, c) != winners.end()}});
      }
      figures[sweep::name_of_metric(metrics[m])] = std::move(row);
    }
    j["blocks"].push_back({{"over", block.over}, {"figures", std::move(figures)}, {"failed", block.failures}});
  }
  return j;
}

std::string SideBySide::text() const {
  std::string out;
  for (const Block& block : blocks) {
    if (!block.over.empty()) out += heading_of(block) + "\n";
    std::vector<std::vector<std::string>> lines{{""}};
    for (const Column& c : columns) lines.front().push_back(c.name);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const std::vector<std::size_t> winners = best(block, m);
      std::vector<std::string> line{sweep::name_of_metric(metrics[m])};
      for (std::size_t c = 0; c < columns.size(); ++c) {
        std::string text = text_of(block.cells[m][c], sweep::kind_of_metric(metrics[m], search).unit);
        if (const std::string more = change_text(change(block, m, c)); !more.empty()) text += "  " + more;
        text += std::ranges::find(winners, c) != winners.end() ? " *" : "  ";
        line.push_back(std::move(text));
      }
      lines.push_back(std::move(line));
    }
    std::vector<std::size_t> width(columns.size() + 1, 0);
    for (const auto& line : lines)
      for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
    for (const auto& line : lines) {
      std::string text = fmt::format("{:<{}}", line[0], width[0]);
      for (std::size_t c = 1; c < line.size(); ++c)
        text += fmt::format("  {:>{}}", line[c] + (&line == &lines.front() ? "  " : ""), width[c]);
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const std::string& failure : block.failures[c])
        out += fmt::format("FAILED {}: {}\n", columns[c].name, failure);
    out += "\n";
  }
  out += fmt::format("* the best; per cent against {}{}\n", columns.front().name,
                     seeds.size() > 1 ? "; median (least .. most) over the seeds" : "");
  if (search) out += search->text() + "\n";
  out += "The fabric, what is sent, faults and seeds are the same in all columns, which differ in this:\n";
  for (const Column& c : columns) out += fmt::format("  {}: {}\n", c.name, fmt::join(c.sets, "  "));
  return out;
}

std::string SideBySide::html() const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"/><title>{0} · transports compared · Railyard</title>"
      "<style>{1}</style></head>\n<body>\n<h1>{0}: transports compared</h1>\n",
      report::escaped_html(spec), report::kStyle);
  out += report::paragraph(
      fmt::format("The fabric, what is sent, faults and seeds ({}) are the same in all columns. Per cent are against "
                  "{}; the best of a row has a star.",
                  fmt::join(seeds, ", "), report::escaped_html(columns.front().name)),
      "lead");
  if (search) out += report::paragraph(report::escaped_html(search->text()));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    std::vector<report::Table::Column> heads{{"", true}};
    for (const Column& c : columns) heads.push_back({c.name});
    report::Table table(std::move(heads));
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const std::vector<std::size_t> winners = best(block, m);
      std::vector<std::string> line{sweep::name_of_metric(metrics[m])};
      for (std::size_t c = 0; c < columns.size(); ++c) {
        std::string text = text_of(block.cells[m][c], sweep::kind_of_metric(metrics[m], search).unit);
        if (const std::string more = change_text(change(block, m, c)); !more.empty()) text += "  " + more;
        if (std::ranges::find(winners, c) != winners.end()) text += " *";
        line.push_back(std::move(text));
      }
      table.row(std::move(line));
    }
    std::string failures;
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const std::string& failure : block.failures[c])
        failures += report::paragraph(report::escaped_html(fmt::format("FAILED {}: {}", columns[c].name, failure)));
    out += report::section(fmt::format("block{}", b + 1), block.over.empty() ? "Figures" : heading_of(block),
                           table.html() + failures);
  }
  report::Table sets({{"column", true}, {"what it changes in the lab", true}});
  for (const Column& c : columns) sets.row({c.name, fmt::format("{}", fmt::join(c.sets, "  "))});
  out += report::section("columns", "Columns", sets.html());
  return out + "</body></html>\n";
}

}  // namespace railyard::compare
