// Utilisation of links whose rate faults have lowered.
#pragma once

#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/faults.h"

namespace railyard::report {

struct Report;

// Corrects what collect() has made of the links' whole rates: the utilisation of ports, tiers and critical paths. Where several
// faults lower a rate at once, the one that began last holds, as in the device.
void use_lowered_rates(const build::BuiltLab& lab, Report& report, const std::vector<fault::LoweredRate>& rates);

}  // namespace railyard::report
