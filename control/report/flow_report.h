// What has become of a flow.
#pragma once

#include <cstdint>
#include <string_view>

#include "control/build/flow.h"
#include "control/report/report.h"
#include "control/routing/path_times.h"
#include "transports/roce/qp_counters.h"

namespace railyard::report {

// `in_flight`: packets of it that are in the fabric. Without what add_limits() says.
FlowReport flow_report(const build::BuiltLab& lab, const build::Flow& flow, std::uint64_t in_flight);
// What a flow could reach on an empty fabric. `total`: 0, it has no end; `own_rate`: 0, it has none.
void add_limits(const build::BuiltLab& lab, const workload::FlowPlan& plan, Bytes total, BitRate own_rate,
                routing::PathTimes& times, FlowReport& r);
// The same of a single one.
void add_limits(const build::BuiltLab& lab, const workload::FlowPlan& plan, Bytes total, BitRate own_rate,
                FlowReport& r);
// What the QPs of one end, or of both together, have counted.
void set_counters(RoceReport& r, const roce::QpCounters& q);
std::string_view word(FlowOperation operation);

}  // namespace railyard::report
