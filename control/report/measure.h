// What conditions (spec/condition.h) can look at beside the figures of the summary: counters of ports, figures of one
// flow, traffic or collective. One table of each: names, units, how several are taken together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/report/summary.h"
#include "control/spec/condition.h"

namespace railyard::report {

struct Report;

// What of several ports, classes, flows or collectives stands for all of them.
// kTogether: payload of all over the time of all (GoodputSum).
enum class Combine { kSum, kTogether, kMax, kMin, kMean, kMedian, kP99 };

// The smallest place that has a counter of its own.
enum class CountedAt { kClass, kPort, kSwitch };

struct MeasureKind {
  std::string_view name;
  Unit unit = Unit::kCount;
  Combine combine = Combine::kSum;
  std::string_view meaning;          // one line, for people
  CountedAt at = CountedAt::kClass;  // of port_measures() only
  bool has_reasons = false;          // a drop reason may be named in brackets
};

// Counters that "at PLACE" may follow: of classes of ports, of ports, of switches with equal paths.
std::vector<MeasureKind> port_measures();
// Figures that "of NAME" may follow: of flows and traffic; of collectives.
std::vector<MeasureKind> flow_measures();
std::vector<MeasureKind> collective_measures();

struct Measured {
  std::optional<double> value;  // nothing: it was not measured
  Unit unit = Unit::kCount;
  std::string where;  // what has the worst value or the largest part of it; may be empty
};
Measured measure(const Report& report, const spec::Measure& what);

}  // namespace railyard::report
