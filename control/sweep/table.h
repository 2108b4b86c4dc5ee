// What came of the runs of a sweep, as one table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/delivery.h"
#include "control/report/summary.h"
#include "control/sweep/plan.h"
#include "control/sweep/search_plan.h"

namespace railyard::sweep {

// One figure of one combination, over its seeds.
struct Cell {
  std::vector<double> values;  // of the runs that have it
  std::optional<double> median() const;
  double min() const;
  double max() const;
};

struct Row {
  Point point;
  std::vector<Cell> cells;  // one per metric
  std::size_t runs = 0;
  std::vector<std::string> failures;  // "seed 3: x.yaml:4: ...", "seed 4: packet accounting does not balance"
  std::string incomplete = {};        // "1 of 8" flows and repeats of collectives were completed; empty: all were
  report::Delivery delivery = {};
};

struct Table {
  std::string spec;
  std::vector<Dimension> dimensions;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> metrics;
  std::vector<Row> rows;
  std::optional<SearchPlan> search;     // then its path is among the metrics
  std::vector<std::string> notes = {};  // what should be known of it, a line each

  // Per metric the rows with the best median (report::best_of). Rows with a failed run win nothing, nor do those that
  // delivered less than another (report/delivery.h); where not all completed, see report::may_win.
  std::vector<std::vector<std::size_t>> winners() const;
  std::vector<bool> less() const;  // by row: it delivered less
  nlohmann::ordered_json json() const;
  std::string text() const;
  // One line a row, the first names the columns: each dimension's path, each metric (the median, in the unit of
  // report.json) and NAME.min and NAME.max over the seeds, runs, failed, incomplete. RFC 4180.
  std::string csv() const;
};

// Lower or higher: "fct_p99", "goodput", "/engine/windows". A name may say it: "+x" higher is better, "-x" lower.
report::FigureKind kind_of_metric(const std::string& metric);
// The same where a search's path is a metric, too.
report::FigureKind kind_of_metric(const std::string& metric, const std::optional<SearchPlan>& search);
std::string name_of_metric(const std::string& metric);

}  // namespace railyard::sweep
