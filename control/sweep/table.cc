#include "control/sweep/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"
#include "control/report/flow_csv.h"

namespace railyard::sweep {

using SweepJson = nlohmann::ordered_json;

std::optional<double> Cell::median() const {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double Cell::min() const { return *std::ranges::min_element(values); }
double Cell::max() const { return *std::ranges::max_element(values); }

std::string name_of_metric(const std::string& metric) {
  return metric.starts_with("+") || metric.starts_with("-") ? metric.substr(1) : metric;
}

report::FigureKind kind_of_metric(const std::string& metric) {
  report::FigureKind kind = report::kind_of(name_of_metric(metric));
  if (metric.starts_with("+")) kind.better = report::Better::kHigher;
  if (metric.starts_with("-")) kind.better = report::Better::kLower;
  return kind;
}

report::FigureKind kind_of_metric(const std::string& metric, const std::optional<SearchPlan>& search) {
  return search && metric == search->search.path ? search->kind() : kind_of_metric(metric);
}

std::vector<bool> Table::less() const {
  std::vector<report::Delivery> all;
  for (const Row& row : rows) all.push_back(row.delivery);
  return report::delivered_less(all);
}

std::vector<std::vector<std::size_t>> Table::winners() const {
  std::vector<std::vector<std::size_t>> out;
  const std::vector<bool> is_less = less();
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const report::FigureKind kind = kind_of_metric(metrics[m], search);
    std::vector<report::Contender> all;
    for (std::size_t i = 0; i < rows.size(); ++i)
      all.push_back({rows[i].failures.empty() ? rows[i].cells[m].median() : std::nullopt,
                     report::may_win(kind, is_less[i], rows[i].incomplete.empty())});
    out.push_back(report::best_of(all, kind.better));
  }
  return out;
}

SweepJson Table::json() const {
  SweepJson j = {{"spec", spec}, {"seeds", seeds}};
  j["over"] = SweepJson::array();
  for (const Dimension& d : dimensions) j["over"].push_back({{"path", d.path}, {"values", d.values}});
  if (search) j["search"] = search->json();
  const auto won = winners();
  const std::vector<bool> is_less = less();
  if (!notes.empty()) j["notes"] = notes;
  j["rows"] = SweepJson::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    SweepJson set = SweepJson::object();
    for (std::size_t d = 0; d < dimensions.size(); ++d) set[dimensions[d].path] = dimensions[d].values[row.point[d]];
    SweepJson figures = SweepJson::object();
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const Cell& cell = row.cells[m];
      const auto median = cell.median();
      figures[name_of_metric(metrics[m])] = median ? SweepJson{{"median", *median},
                                                               {"min", cell.min()},
                                                               {"max", cell.max()},
                                                               {"values", cell.values},
                                                               {"winner", std::ranges::find(won[m], i) != won[m].end()}}
                                                   : SweepJson(nullptr);
    }
    j["rows"].push_back({{"set", std::move(set)},
                         {"runs", row.runs},
                         {"figures", std::move(figures)},
                         {"failed", row.failures},
                         {"delivered_less", is_less[i]},
                         {"incomplete", row.incomplete}});
  }
  return j;
}

std::string Table::csv() const {
  std::vector<std::string> fields;
  std::string out;
  const auto end_line = [&] {
    for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + report::csv_field(fields[i]);
    out += "\n";
    fields.clear();
  };
  for (const Dimension& d : dimensions) fields.push_back(d.path);
  for (const std::string& m : metrics)
    for (const char* const what : {"", ".min", ".max"}) fields.push_back(name_of_metric(m) + what);
  fields.insert(fields.end(), {"runs", "failed", "incomplete"});
  end_line();
  for (const Row& row : rows) {
    for (std::size_t d = 0; d < dimensions.size(); ++d) fields.push_back(dimensions[d].values[row.point[d]]);
    for (const Cell& cell : row.cells) {
      const auto median = cell.median();
      fields.push_back(median ? fmt::format("{}", *median) : "");
      fields.push_back(median ? fmt::format("{}", cell.min()) : "");
      fields.push_back(median ? fmt::format("{}", cell.max()) : "");
    }
    fields.insert(fields.end(), {fmt::format("{}", row.runs), fmt::format("{}", row.failures.size()), row.incomplete});
    end_line();
  }
  return out;
}

std::string Table::text() const {
  const auto won = winners();
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> heading;
  for (const Dimension& d : dimensions) heading.push_back(d.path);
  for (const std::string& m : metrics) heading.push_back(name_of_metric(m) + "  ");
  heading.emplace_back("failed");
  lines.push_back(heading);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    std::vector<std::string> line;
    for (std::size_t d = 0; d < dimensions.size(); ++d) line.push_back(dimensions[d].values[row.point[d]]);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const Cell& cell = row.cells[m];
      const report::FigureKind kind = kind_of_metric(metrics[m], search);
      const auto median = cell.median();
      std::string text = median ? report::range_text(*median, cell.min(), cell.max(), kind.unit) : "-";
      if (median && kind.of_completed && !row.incomplete.empty()) text += fmt::format(" ({})", row.incomplete);
      // Figures stand below each other, whether or not a star follows.
      text += std::ranges::find(won[m], i) != won[m].end() ? " *" : "  ";
      line.push_back(std::move(text));
    }
    line.push_back(row.failures.empty() ? "" : fmt::format("{} of {}", row.failures.size(), row.runs));
    lines.push_back(std::move(line));
  }
  std::string out = text_table(lines, dimensions.size());
  out += fmt::format("{}* best of its column{}\n", rows.size() > 1 ? "" : "(one row) ",
                     seeds.size() > 1 ? "; median (min .. max) over the seeds" : "");
  if (std::ranges::any_of(rows, [](const Row& r) { return !r.incomplete.empty(); }))
    out += "(n of m): n of m flows and collective iterations completed; the figure covers these only; no star\n";
  const std::vector<bool> is_less = less();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_less[i]) continue;
    std::vector<std::string> values;
    for (std::size_t d = 0; d < dimensions.size(); ++d) values.push_back(dimensions[d].values[rows[i].point[d]]);
    out += fmt::format("{} delivered less than another ({}): no star\n", fmt::join(values, " "),
                       rows[i].delivery.text());
  }
  if (search) out += search->text() + "\n";
  for (const std::string& note : notes) out += "Note: " + note + "\n";
  for (const Row& row : rows)
    for (const std::string& failure : row.failures) out += fmt::format("FAILED {}\n", failure);
  return out;
}

}  // namespace railyard::sweep
