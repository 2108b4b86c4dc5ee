// When the steady state of a run begins.
#pragma once

#include <algorithm>

#include "control/spec/spec.h"

namespace railyard::spec {

// run.budgets.warm-up; a tenth of run.duration, or 1 ms in runs without one. At least 1 ps.
inline Duration warm_up_of(const RunSpec& run) {
  constexpr Duration kUsual{1'000'000'000};
  return std::max(run.budgets.warm_up.value_or(run.duration ? *run.duration / 10 : kUsual), Duration{1});
}

}  // namespace railyard::spec
