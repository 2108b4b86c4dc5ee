// Names of figures below a summary: LIST.NAME.FIELD, OBJECT.FIELD.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "control/report/metrics/metric.h"

namespace railyard::report {

// A documented number of report.json (report_fields()).
struct FieldPath {
  std::string list;     // "flows"; of an object: "engine"
  std::string element;  // "incast/h2->h1"; empty: of an object
  Unit unit = Unit::kCount;
};

// "flows.incast/h2->h1.share", "traffic.incast.goodput_bps.p50", "flows.t/h1->h2.roce.cnp_sent", "engine.windows".
// Does not ask whether a lab has the element. Unexpected: what is wrong with it, with a suggestion.
std::expected<FieldPath, std::string> find_field(std::string_view name);

// Of a JSON pointer (RFC 6901) to a number of report.json: what is wrong with it, with a suggestion; empty: nothing.
// Does not ask how many elements a list has.
std::string problem_of_pointer(std::string_view pointer);

}  // namespace railyard::report
