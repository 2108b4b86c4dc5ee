// What has become of a flow.
#pragma once

#include <cstdint>
#include <string_view>

#include "control/build/flow.h"
#include "control/report/report.h"
#include "control/routing/path_times.h"
#include "transports/roce/qp_counters.h"

namespace railyard::report {

// `in_flight`: packets of it that are in the fabric. `now`: until when the lab has run. Without what add_limits() says.
FlowReport flow_report(const build::BuiltLab& lab, const build::Flow& flow, std::uint64_t in_flight, Instant now);

// The one definition of goodput: payload delivered, each octet once, in the time that the flow was asked to send.
//   complete:           all of it, from its start to its completion (where its messages are asked for);
//   an end, not complete: until it failed (or its last packet arrived, if that was later), its stop, the end of
//                       run.duration, or now, whichever comes first;
//   no end:             until its stop, the end of run.duration, or now.
// What arrives in the drain is not counted unless the flow completes then. Not begun: no interval.
struct GoodputInterval {
  Instant start{};
  Instant end{};
  std::uint64_t octets = 0;  // delivered in it
};
void set_goodput(const GoodputInterval& interval, FlowReport& r);

// Until when a lab that rests has run.
Instant now_of(const build::BuiltLab& lab);
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
