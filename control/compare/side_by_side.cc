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

bool SideBySide::has_same_facts() const {
  return std::ranges::all_of(blocks, [&](const Block& b) {
    return std::ranges::equal(b.setups, blocks.front().setups, {}, &Setup::facts, &Setup::facts);
  });
}

bool SideBySide::has_same_settings() const {
  return std::ranges::all_of(blocks, [&](const Block& b) { return b.settings == blocks.front().settings; });
}

std::vector<std::vector<std::string>> SideBySide::facts_rows(const Block& block) const {
  std::vector<std::vector<std::string>> rows{
      {"column", "transport", "congestion control", "loss recovery", "path policy", "class"}};
  for (std::size_t c = 0; c < block.setups.size(); ++c) {
    const ColumnFacts& f = block.setups[c].facts;
    if (f != ColumnFacts{})
      rows.push_back({columns[c].name, f.transport, f.congestion, f.recovery, f.path, f.traffic_class});
  }
  if (rows.size() == 1) rows.clear();
  return rows;
}

std::vector<std::vector<std::string>> SideBySide::settings_rows(const Block& block) const {
  std::vector<std::vector<std::string>> rows;
  if (block.settings.empty()) return rows;
  rows.push_back({"setting"});
  for (const Column& c : columns) rows.front().push_back(c.name);
  for (const SettingRow& row : block.settings) {
    rows.push_back({row.path});
    rows.back().insert(rows.back().end(), row.values.begin(), row.values.end());
  }
  return rows;
}

namespace {

OrderedJson json_of(const std::vector<SettingRow>& settings) {
  OrderedJson rows = OrderedJson::array();
  for (const SettingRow& row : settings) rows.push_back({{"path", row.path}, {"values", row.values}});
  return rows;
}

// `setup`: nothing where it is not the same in all blocks.
OrderedJson json_of(const std::string& name, const SideBySide::Setup* setup) {
  OrderedJson j = {{"name", name}};
  const auto add = [&](const char* key, auto value) {
    j[key] = setup != nullptr ? OrderedJson(value(*setup)) : OrderedJson();
  };
  add("set", [](const SideBySide::Setup& s) { return s.sets; });
  add("transport", [](const SideBySide::Setup& s) { return s.facts.transport; });
  add("congestion", [](const SideBySide::Setup& s) { return s.facts.congestion; });
  add("recovery", [](const SideBySide::Setup& s) { return s.facts.recovery; });
  add("path", [](const SideBySide::Setup& s) { return s.facts.path; });
  add("class", [](const SideBySide::Setup& s) { return s.facts.traffic_class; });
  return j;
}

}  // namespace

OrderedJson SideBySide::json() const {
  OrderedJson j = {{"spec", spec}, {"seeds", seeds}, {"columns", OrderedJson::array()}};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto in = [&](const Block& b) { return c < b.setups.size() ? &b.setups[c] : nullptr; };
    const Setup* const first = blocks.empty() ? nullptr : in(blocks.front());
    const bool is_same = first != nullptr && std::ranges::all_of(blocks, [&](const Block& b) {
                           return in(b) != nullptr && *in(b) == *first;
                         });
    j["columns"].push_back(json_of(columns[c].name, is_same ? first : nullptr));
  }
  j["settings"] = !blocks.empty() && has_same_settings() ? json_of(blocks.front().settings) : OrderedJson();
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
    b["columns"] = OrderedJson::array();
    for (std::size_t c = 0; c < block.setups.size(); ++c)
      b["columns"].push_back(json_of(columns[c].name, &block.setups[c]));
    b["settings"] = json_of(block.settings);
    b["incomplete"] = block.incomplete;
    b["delivered_less"] = block.less();
    if (block.distributions.empty()) continue;
    b["distributions"] = OrderedJson::array();
    for (const Distribution& d : block.distributions)
      b["distributions"].push_back({{"name", d.name}, {"points", d.points}});
  }
  return j;
}

namespace {

// A table whose first row is its head; a row with values that are too long for one, as lists of hosts are, stands
// below.
std::string settings_text(const std::vector<std::vector<std::string>>& rows) {
  constexpr std::size_t kLongest = 48;
  if (rows.empty()) return {};
  std::vector<std::vector<std::string>> table{rows.front()};
  std::string below;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (std::ranges::none_of(rows[r], [](const std::string& cell) { return cell.size() > kLongest; })) {
      table.push_back(rows[r]);
      continue;
    }
    below += "  " + rows[r].front() + "\n";
    for (std::size_t c = 1; c < rows[r].size(); ++c) below += fmt::format("    {}: {}\n", rows.front()[c], rows[r][c]);
  }
  return "Settings that differ\n" + text_table(table, table.front().size(), "  ") + below;
}

}  // namespace

std::string SideBySide::text() const {
  std::string out;
  if (!method.empty()) out += fmt::format("{}\n\n", fmt::join(method.lines(), "\n"));
  const auto table = [](const std::string& title, const std::vector<std::vector<std::string>>& rows) {
    return rows.empty() ? std::string() : title + "\n" + text_table(rows, rows.front().size(), "  ");
  };
  const bool same_facts = has_same_facts();
  const bool same_settings = has_same_settings();
  if (same_facts && !blocks.empty())
    if (const std::string facts = table("Columns", facts_rows(blocks.front())); !facts.empty()) out += facts + "\n";
  for (const Block& block : blocks) {
    if (!block.over.empty()) out += heading_of(block) + "\n";
    if (!same_facts) out += table("Columns", facts_rows(block));
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
    if (!same_settings) out += settings_text(settings_rows(block));
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
  if (same_settings && !blocks.empty()) out += settings_text(settings_rows(blocks.front()));
  return out;
}

}  // namespace railyard::compare
