// A report as one page that needs nothing else: no script, no network, light and dark.
#pragma once

#include <string>
#include <vector>

#include "control/doctor/rule.h"
#include "control/report/report.h"

namespace railyard::report {

struct PageOptions {
  const spec::Lab* lab = nullptr;  // that ran, expanded; null: no picture of it
  std::string series_file{};       // of telemetry::QueueSeries; empty: no queues and rates of links over time
  std::string flow_series_file{};  // of telemetry::FlowSeries; empty: no rates of flows over time
  const std::vector<doctor::Found>* causes = nullptr;  // of the report (findings()); null: they are looked for
};

// The page's size is bounded, however large the lab: of what there is much, the worst and percentiles. Names are
// escaped. Throws std::runtime_error: the series cannot be read.
std::string html(const Report& report, const PageOptions& options = {});

}  // namespace railyard::report
