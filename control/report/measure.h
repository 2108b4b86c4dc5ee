// What conditions (spec/condition.h) can look at beside the figures of the summary: counters of ports, figures of one
// flow, traffic or collective. One table of each: names, units, how several are taken together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/report/summary.h"
#include "control/spec/condition.h"
#include "control/spec/spec.h"

namespace railyard::report {

struct Report;

// What of several ports, classes, flows or collectives stands for all of them.
// kTogether: payload of all over the time of all (GoodputSum).
enum class Combine { kSum, kTogether, kMax, kMin, kMean, kMedian, kP99 };

struct MeasureKind {
  std::string_view name;
  Unit unit = Unit::kCount;
  Combine combine = Combine::kSum;
  std::string_view meaning;  // one line, for people
};

// Counters that "at PLACE" may follow: of classes of ports, of ports, of switches with equal paths.
std::vector<MeasureKind> port_measures();
// Figures that "of NAME" may follow: of flows and traffic; of collectives.
std::vector<MeasureKind> flow_measures();
std::vector<MeasureKind> collective_measures();

// Throws spec::SpecError at `place`, its message beginning with `text` quoted: the lab has no such figure, reason, flow,
// traffic, collective, node or port, each with a suggestion. Returns the unit; nothing: a JSON pointer.
std::optional<Unit> check_measure(const spec::Lab& lab, const spec::Measure& measure, const spec::Place& place,
                                  const std::string& text);

struct Measured {
  std::optional<double> value;  // nothing: it was not measured
  Unit unit = Unit::kCount;
  std::string where;  // what has the worst value or the largest part of it; may be empty
};
Measured measure(const Report& report, const spec::Measure& what);

}  // namespace railyard::report
