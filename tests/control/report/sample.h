// A report written by hand: an incast that was marked, paused and (in a lossy class) dropped.
#pragma once

#include "control/report/report.h"

namespace railyard::report {

// Two flows to h1, one of them done; leaf1:1 is the bottleneck, h2:1 was paused.
Report sample();
// Of a flow over RoCE to which everything happened.
RoceReport sample_roce();

}  // namespace railyard::report
