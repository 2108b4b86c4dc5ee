// The figures that runs are compared by: each a name, a number, a unit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/report/metrics/metric.h"

namespace railyard::report {

struct Report;

struct Figure {
  std::string name;  // "fct_p99"
  double value = 0;
};

// Those that this run has: without a flow that is complete there is no FCT.
std::vector<Figure> summary(const Report& report);

// What a figure of that name is (metrics/metric.h); figures that are not known are counts, and neither is better.
struct FigureKind {
  Unit unit = Unit::kCount;
  Better better = Better::kNeither;
  // Of what was completed only, or of how it was shared: of a run in which something was not (figure completed below 1)
  // it says less than of one in which all was.
  bool of_completed = false;
  std::string_view meaning = {};  // one line, for people; empty: not known
};
FigureKind kind_of(std::string_view name);
// All figures that a summary may have, by name.
std::vector<std::string> known_figures();

// "335 us", "97.9 Gb/s".
std::string figure_text(double value, Unit unit);
// A median with its range, "305 us (290 us .. 310 us)"; without the range if it would read the same.
std::string range_text(double median, double least, double most, Unit unit);
// How much a figure differs from another: 0.1 is "+10.0 %", 12.5 is "x 13.5", 0.0001 "0.0 %".
std::string change_text(double change);

}  // namespace railyard::report
