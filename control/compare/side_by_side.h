// What came of runs of one lab that differ in the transport: one column for each, side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/compare/columns.h"
#include "control/compare/method.h"
#include "control/report/delivery.h"
#include "control/sweep/table.h"

namespace railyard::compare {

struct SideBySide {
  struct Column {
    std::string name;
  };
  // A column in one block.
  struct Setup {
    std::vector<std::string> sets;  // what the column changes in the lab, "path=value"
    ColumnFacts facts = {};

    bool operator==(const Setup&) const = default;
  };
  // How a figure is distributed, of each column: at or below so many ns for this part of all.
  struct Distribution {
    std::string name;                                            // "short: messages"
    std::vector<std::vector<std::pair<double, double>>> points;  // by column: (part, ns), of the first seed
  };
  // One combination of the values that the comparison is made over.
  struct Block {
    std::vector<std::string> over;                   // "topology.spines=4"; empty: there is one block
    std::vector<std::vector<sweep::Cell>> cells;     // by metric, then column
    std::vector<std::vector<std::string>> failures;  // by column: "seed 3: x.yaml:4: ..."
    std::vector<Setup> setups = {};                  // by column; empty: not known
    std::vector<SettingRow> settings = {};           // in which the columns differ
    // By column: "1 of 8" flows and repeats of collectives were completed; empty, as all of it may be: all were.
    std::vector<std::string> incomplete = {};
    std::vector<report::Delivery> delivery = {};  // by column; empty: not known
    std::vector<Distribution> distributions = {};
    // By column: where the reports of its runs are, from where the page is; empty: nobody asked for them.
    std::vector<std::vector<std::string>> reports = {};

    // By column: it delivered less than another (report/delivery.h).
    std::vector<bool> less() const;
    bool is_complete(std::size_t c) const { return incomplete.empty() || incomplete[c].empty(); }
  };
  std::string spec;
  std::vector<std::uint64_t> seeds;
  std::vector<Column> columns;
  std::vector<std::string> metrics;
  std::vector<Block> blocks;
  std::optional<sweep::SearchPlan> search;  // made by each run of a column; then its path is among the metrics
  Method method = {};
  std::vector<std::string> notes = {};  // what should be known of it, a line each

  // The metric of column `c` against the first column's: 0.1 is ten per cent more. Nothing: one of them has none, the
  // first's is 0, or it is of what was completed, and in one of them not all was.
  std::optional<double> change(const Block& block, std::size_t metric, std::size_t c) const;
  // The columns with the best median (report::best_of). A column with a failed run wins nothing, nor does one that
  // delivered less than another; where not all completed, see report::may_win.
  std::vector<std::size_t> best(const Block& block, std::size_t metric) const;
  bool failed() const;
  // Whether all blocks have the same columns, and the same settings that differ: then these are shown once.
  bool has_same_facts() const;
  bool has_same_settings() const;

  nlohmann::ordered_json json() const;
  std::string text() const;
  // One page that needs nothing else, as report::html().
  std::string html() const;

 private:
  report::FigureKind kind(std::size_t metric) const { return sweep::kind_of_metric(metrics[metric], search); }
  std::string value_text(const Block& block, std::size_t metric, std::size_t c) const;      // "88.2 us (1 of 8)"
  std::string change_text_of(const Block& block, std::size_t metric, std::size_t c) const;  // "-3.0 %"
  std::string cell_text(const Block& block, std::size_t metric, std::size_t c, bool is_best) const;
  // Tables of what the columns are and of the settings that differ; empty: there is nothing to show.
  std::vector<std::vector<std::string>> facts_rows(const Block& block) const;
  std::vector<std::vector<std::string>> settings_rows(const Block& block) const;
  std::string table_html(const Block& block) const;
  std::string meanings_html() const;
};

}  // namespace railyard::compare
