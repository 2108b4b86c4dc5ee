// Links that two jobs have in common: a KPI of T10.3, from one report.
#pragma once

#include <optional>
#include <string>

#include "control/bench/kpi_parts.h"

namespace railyard::bench {

// Directions of links between switches that carried frames of both classes / those that carried frames of the first.
// `classes`: "3,4". A port next to a rank of a collective counts for none. Nothing: one of the classes has no such link.
std::optional<double> shared_links(const ReportJson& report, const std::string& classes);
// What is wrong with `classes`; empty: nothing.
std::string problem_of_classes(const std::string& classes);

}  // namespace railyard::bench
