#include "control/compare/side_by_side.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"
#include "control/report/summary.h"

namespace railyard::compare {
namespace {

using OrderedJson = nlohmann::ordered_json;

// "305 us (290 us .. 310 us)"
std::string text_of(const sweep::Cell& cell, report::Unit unit) {
  const auto median = cell.median();
  return median ? report::range_text(*median, cell.min(), cell.max(), unit) : "-";
}

std::string heading_of(const SideBySide::Block& block) { return fmt::format("{}", fmt::join(block.over, ", ")); }

// Rows whose name does not say what they count.
constexpr std::string_view kExplained[] = {"out_of_order", "missing", "convergence"};

}  // namespace

std::string SideBySide::value_text(const Block& block, std::size_t metric, std::size_t c) const {
  const report::FigureKind k = kind(metric);
  std::string text = text_of(block.cells[metric][c], k.unit);
  if (k.of_completed && !block.is_complete(c) && text != "-") text += fmt::format(" ({})", block.incomplete[c]);
  return text;
}

std::string SideBySide::change_text_of(const Block& block, std::size_t metric, std::size_t c) const {
  const auto by = change(block, metric, c);
  return by && *by != 0 ? report::change_text(*by) : "";
}

// "88.2 us (1 of 8)  -3.0 % *"
std::string SideBySide::cell_text(const Block& block, std::size_t metric, std::size_t c, bool is_best) const {
  std::string text = value_text(block, metric, c);
  if (const std::string more = change_text_of(block, metric, c); !more.empty()) text += "  " + more;
  return is_best ? text + " *" : text;
}

std::optional<double> SideBySide::change(const Block& block, std::size_t metric, std::size_t c) const {
  if (kind(metric).of_completed && !(block.is_complete(0) && block.is_complete(c))) return std::nullopt;
  const auto first = block.cells[metric].front().median();
  const auto here = block.cells[metric][c].median();
  if (c == 0 || !first || !here) return std::nullopt;
  if (*first == *here) return 0;
  if (*first == 0) return std::nullopt;
  return *here / *first - 1;
}

std::vector<std::size_t> SideBySide::best(const Block& block, std::size_t metric) const {
  const report::FigureKind k = kind(metric);
  const std::vector<bool> less = block.less();
  std::vector<report::Contender> all;
  for (std::size_t c = 0; c < columns.size(); ++c)
    all.push_back({block.failures[c].empty() ? block.cells[metric][c].median() : std::nullopt,
                   report::may_win(k, less[c], block.is_complete(c))});
  return report::best_of(all, k.better);
}

std::vector<bool> SideBySide::Block::less() const {
  std::vector<bool> all = report::delivered_less(delivery);
  all.resize(failures.size());
  return all;
}

bool SideBySide::failed() const {
  return std::ranges::any_of(
      blocks, [](const Block& b) { return std::ranges::any_of(b.failures, [](const auto& f) { return !f.empty(); }); });
}

OrderedJson SideBySide::json() const {
  OrderedJson j = {{"spec", spec}, {"seeds", seeds}, {"columns", OrderedJson::array()}};
  for (const Column& c : columns)
    j["columns"].push_back({{"name", c.name},
                            {"set", c.sets},
                            {"transport", c.facts.transport},
                            {"congestion", c.facts.congestion},
                            {"recovery", c.facts.recovery},
                            {"path", c.facts.path},
                            {"class", c.facts.traffic_class}});
  j["settings"] = OrderedJson::array();
  for (const SettingRow& row : settings) j["settings"].push_back({{"path", row.path}, {"values", row.values}});
  if (!method.empty()) j["method"] = method.json();
  if (!notes.empty()) j["notes"] = notes;
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
    OrderedJson& b = j["blocks"].emplace_back(
        OrderedJson{{"over", block.over}, {"figures", std::move(figures)}, {"failed", block.failures}});
    b["incomplete"] = block.incomplete;
    b["delivered_less"] = block.less();
    if (block.distributions.empty()) continue;
    b["distributions"] = OrderedJson::array();
    for (const Distribution& d : block.distributions)
      b["distributions"].push_back({{"name", d.name}, {"points", d.points}});
  }
  return j;
}

std::string SideBySide::text() const {
  std::string out;
  if (!method.empty()) out += fmt::format("{}\n\n", fmt::join(method.lines(), "\n"));
  if (std::ranges::any_of(columns, [](const Column& c) { return c.facts != ColumnFacts{}; })) {
    std::vector<std::vector<std::string>> lines{
        {"column", "transport", "congestion control", "loss recovery", "path policy", "class"}};
    for (const Column& c : columns)
      lines.push_back({c.name, c.facts.transport, c.facts.congestion, c.facts.recovery, c.facts.path,
                       c.facts.traffic_class});
    out += "Columns\n" + text_table(lines, lines.front().size(), "  ") + "\n";
  }
  for (const Block& block : blocks) {
    if (!block.over.empty()) out += heading_of(block) + "\n";
    // Two columns of each cell are the star's.
    std::vector<std::vector<std::string>> lines{{""}};
    for (const Column& c : columns) lines.front().push_back(c.name + "  ");
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const std::vector<std::size_t> winners = best(block, m);
      std::vector<std::string> line{sweep::name_of_metric(metrics[m])};
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const bool is_best = std::ranges::find(winners, c) != winners.end();
        line.push_back(cell_text(block, m, c, is_best) + (is_best ? "" : "  "));
      }
      lines.push_back(std::move(line));
    }
    out += text_table(lines, 1);
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const std::string& failure : block.failures[c])
        out += fmt::format("FAILED {}: {}\n", columns[c].name, failure);
    const std::vector<bool> less = block.less();
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (less[c])
        out += fmt::format("{} delivered less than another column ({}): no star\n", columns[c].name,
                           block.delivery[c].text());
    out += "\n";
  }
  out += fmt::format("* best; percentages relative to {}{}\n", columns.front().name,
                     seeds.size() > 1 ? "; median (min .. max) over the seeds" : "");
  const bool partly = std::ranges::any_of(blocks, [](const Block& b) {
    return std::ranges::any_of(b.incomplete, [](const auto& i) { return !i.empty(); });
  });
  if (partly)
    out += "(n of m): n of m flows and collective iterations completed; the figure covers these only; no star\n";
  for (const std::string_view name : kExplained)
    if (std::ranges::find(metrics, name) != metrics.end())
      out += fmt::format("{}: {}\n", name, report::kind_of(name).meaning);
  if (search) out += search->text() + "\n";
  for (const std::string& note : notes) out += "Note: " + note + "\n";
  out += "The fabric, traffic, faults and seeds are the same in all columns.\n";
  if (!settings.empty()) {
    std::vector<std::vector<std::string>> lines{{"setting"}};
    for (const Column& c : columns) lines.front().push_back(c.name);
    for (const SettingRow& row : settings) {
      lines.push_back({row.path});
      lines.back().insert(lines.back().end(), row.values.begin(), row.values.end());
    }
    out += "Settings that differ\n" + text_table(lines, lines.front().size(), "  ");
  }
  return out;
}

}  // namespace railyard::compare
