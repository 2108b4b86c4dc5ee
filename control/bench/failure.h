// What a failure of a link or switch does to a collective: KPIs of T11.2 and T11.3, from one report.
#pragma once

#include <optional>
#include <vector>

#include "control/bench/kpi_parts.h"

namespace railyard::bench {

// Iterations of the first collective and the failure. All times in ns.
struct Failure {
  double at = 0;               // the first link that went down
  double during = 0;           // the longest iteration between `at` and the last effect on routes and packets; if none
                               // runs then, the first one after `at`
  double phase = 0;            // `at`, since the start of the iteration that ran then or had ended last
  std::vector<double> steady;  // times of those that ended before `at`, the first one (it warms up) left out
  double recovered = 0;        // the end of the last iteration that is more than 10 % longer than the new mean; `at`: none is
};
// Nothing: nothing failed, or it failed before an iteration had ended or after the last one.
std::optional<Failure> failure_of(const ReportJson& report);

// First to last packet that was lost; 0: none was. Nothing: nothing failed.
std::optional<double> loss_duration(const ReportJson& report);
std::optional<double> lost_while_rerouting(const ReportJson& report);
// Time in which the first collective sends as many packets as were lost.
std::optional<double> loss_by_rate(const ReportJson& report);
// The failure to the last change of a forwarding table.
std::optional<double> route_convergence(const ReportJson& report);

}  // namespace railyard::bench
