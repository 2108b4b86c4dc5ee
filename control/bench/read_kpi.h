// A KPI of a definition.
#pragma once

#include "control/bench/kpi.h"
#include "control/spec/yaml/tree.h"

namespace railyard::bench {

// Throws spec::SpecError: a key, figure, function or counter that is unknown, or something that a function needs is missing.
Kpi read_kpi(const spec::Tree& tree);

}  // namespace railyard::bench
