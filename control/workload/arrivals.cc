#include "control/workload/arrivals.h"

#include "dataplane/base/natural_log.h"

namespace railyard::workload {

Duration next_gap(RngStream& rng, double mean_ps) noexcept {
  const double u = static_cast<double>((rng.next() >> 11) + 1) * 0x1p-53;  // (0, 1]
  return Duration{static_cast<std::int64_t>(-mean_ps * natural_log(u) + 0.5)};
}

Bytes draw_size(RngStream& rng, const spec::FlowSizes& sizes, std::int64_t step) noexcept {
  const std::int64_t size = sizes.at(rng.next()).n;
  return Bytes{(size + step - 1) / step * step};
}

}  // namespace railyard::workload
