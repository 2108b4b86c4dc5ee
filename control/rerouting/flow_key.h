// What switches see of a flow of a lab, to find its way (tables.h).
#pragma once

#include "control/build/built_lab.h"
#include "control/build/flow.h"
#include "control/rerouting/tables.h"

namespace railyard::rerouting {

// Of a RoCE flow with several QPs, its first. Of UET, whose packets have an entropy each, all ways. While the engine
// rests.
FlowKey key_of(const build::BuiltLab& lab, const build::Flow& flow);

}  // namespace railyard::rerouting
