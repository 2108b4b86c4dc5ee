// Ports of a report as the doctor's rules read them.
#pragma once

#include "control/doctor/case.h"
#include "control/report/report.h"

namespace railyard::report {

// What the doctor would read of port_json(p), without making that.
doctor::PortCase port_case(const PortReport& p);

}  // namespace railyard::report
