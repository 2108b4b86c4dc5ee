// What a spec says of classes, paths and watchdogs, as devices take it.
#pragma once

#include "control/spec/spec.h"
#include "dataplane/device/classify.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/switch/switch_config.h"

namespace railyard::build {

TrustMap trust_map(const spec::QosProfile& qos);
ClassScheduling scheduling_of(const spec::TrafficClass& c) noexcept;
PriorityMask lossless_classes(const spec::QosProfile& qos) noexcept;
// At a port of this rate.
EcnConfig ecn_of(const spec::Ecn& e, BitRate rate) noexcept;
PathConfig path_of(const spec::PathSpec& p) noexcept;
PfcWatchdogConfig watchdog_of(const spec::PfcWatchdog& w) noexcept;

}  // namespace railyard::build
