// Agents measure wall time; a lab may run at another pace.
#pragma once

#include <cstdint>

#include "control/build/built_lab.h"
#include "dataplane/base/time.h"

namespace railyard::agents {

// Of nanoseconds of wall time.
inline Duration modelled(const build::BuiltLab& lab, std::uint64_t ns) {
  const spec::RunSpec& run = lab.spec().run;
  return {static_cast<std::int64_t>(Int128{static_cast<std::int64_t>(ns)} * 1000 * run.scale_numerator /
                                    run.scale_denominator)};
}

}  // namespace railyard::agents
