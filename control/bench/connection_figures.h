// How fast and how many QPs or PDCs were set up: KPIs of T6.7, from one report. Each flow has one.
#pragma once

#include <optional>
#include <vector>

#include "control/bench/kpi_parts.h"

namespace railyard::bench {

// From a flow's start to the arrival of its first packet, ns, by flow; of a QP with its handshake. Flows without an arrival are
// left out.
std::vector<double> first_bytes(const ReportJson& report);
// Flows with an arrival / the time from the first start to the last first arrival, 1/s. Nothing: there are none.
std::optional<double> setup_rate(const ReportJson& report);

}  // namespace railyard::bench
