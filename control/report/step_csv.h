// The repeats of collectives, and so the steps of training, as a table for programs.
#pragma once

#include <string>

#include "control/report/report.h"

namespace railyard::report {

// One row a repeat that was started, the first line names the columns (RFC 4180):
//   collective, transport, step (from 1), start_ns, time_ns (empty: not complete), algbw_bps, busbw_bps (empty: not
//   complete, or of steps that compute), cumulative_ns (from the first start to the end of this repeat; empty: not complete)
std::string step_csv(const Report& report);

}  // namespace railyard::report
