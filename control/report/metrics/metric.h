// The metric registry: what every figure of a report is. Summaries, comparisons and docs/metrics.md are made of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "control/report/metrics/run_totals.h"

namespace railyard::report {

enum class Better { kLower, kHigher, kNeither };
enum class Unit { kNanoseconds, kBitsPerSecond, kBytes, kCount, kRatio, kShare, kSeconds };  // kShare: a ratio of 0..1

// "ns", "bit/s", "bytes", "count", "ratio", "0..1", "s".
std::string_view word(Unit unit);

// A figure of a whole run: what `compare`, `sweep` and conditions name.
struct Metric {
  std::string_view name;  // "fct_p99"
  Unit unit = Unit::kCount;
  Better better = Better::kNeither;
  // Of what was completed only: of a run in which something was not (figure completed below 1) it says less.
  bool of_completed = false;
  std::string_view help;    // what is counted, and the formula
  std::string_view over;    // the interval
  std::string_view source;  // who counts it
  // Nothing: the run has no such figure, or nobody measured it.
  std::optional<double> (*value)(const RunTotals&) = nullptr;
};

// In the order of summaries.
std::span<const Metric> run_metrics();
const Metric* find_metric(std::string_view name);  // nullptr: there is none of that name

// A figure of one element of a list in report.json, or of one row of a table or CSV file.
struct Field {
  std::string_view name;  // below the element: "goodput_bps", "roce.cnp_sent"; "x.*": everything below x
  std::string_view unit;  // "ns", "frames", "text", ...
  std::string_view help;
  std::string_view parts = {};  // of "x.*": what may stand for *, with blanks between; empty: reasons, codes, ...
};
struct FieldList {
  std::string_view path;   // "flows[]"
  std::string_view about;  // what an element is, over which interval, and who counts
  std::string_view name;   // the field that names an element in LIST.NAME.FIELD; empty: it has no such name
  std::span<const Field> fields;
};
// Of report.json: one list for every object that it is made of.
std::span<const FieldList> report_fields();
// Of the CSV files that `run` and `series` write, and of `status`.
std::span<const FieldList> other_fields();

// docs/metrics.md.
std::string metrics_page();

}  // namespace railyard::report
