// What came of runs of one lab that differ in the transport: one column for each, side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/sweep/table.h"

namespace railyard::compare {

struct SideBySide {
  struct Column {
    std::string name;
    std::vector<std::string> sets;  // what it changes in the lab, "path=value"
  };
  // One combination of the values that the comparison is made over.
  struct Block {
    std::vector<std::string> over;                   // "topology.spines=4"; empty: there is one block
    std::vector<std::vector<sweep::Cell>> cells;     // by metric, then column
    std::vector<std::vector<std::string>> failures;  // by column: "seed 3: x.yaml:4: ..."
  };
  std::string spec;
  std::vector<std::uint64_t> seeds;
  std::vector<Column> columns;
  std::vector<std::string> metrics;
  std::vector<Block> blocks;
  std::optional<sweep::SearchPlan> search;  // made by each run of a column; then its path is among the metrics

  // The metric of column `c` against the first column's: 0.1 is ten per cent more. Nothing: one of them has none, or
  // the first's is 0.
  static std::optional<double> change(const Block& block, std::size_t metric, std::size_t c);
  // The columns with the best median; none where neither end is better, all are alike, or there is but one. A column
  // with a failed run wins nothing.
  std::vector<std::size_t> best(const Block& block, std::size_t metric) const;
  bool failed() const;

  nlohmann::ordered_json json() const;
  std::string text() const;
  // One page that needs nothing else, as report::html().
  std::string html() const;
};

}  // namespace railyard::compare
