// Chance in traffic: sizes that are drawn, and when flows arrive.
#pragma once

#include "control/spec/flow_sizes.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::workload {

// A Poisson process: gaps are exponential, with this mean.
Duration next_gap(RngStream& rng, double mean_ps) noexcept;

// A size drawn, in steps of `step` octets, rounded up.
Bytes draw_size(RngStream& rng, const spec::FlowSizes& sizes, std::int64_t step) noexcept;

}  // namespace railyard::workload
