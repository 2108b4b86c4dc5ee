#include "control/workload/arrivals.h"

#include <cmath>

namespace railyard::workload {

// x = m 2^e with m in [0.5, 1), and ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most a third.
double natural_log(double x) noexcept {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr int kTerms = 18;
  int exponent = 0;
  const double m = std::frexp(x, &exponent);  // exact
  const double z = (m - 1) / (m + 1);
  double sum = 0;
  for (int k = kTerms; k >= 0; --k) sum = sum * z * z + 1.0 / (2 * k + 1);
  return 2 * z * sum + exponent * kLn2;
}

Duration next_gap(RngStream& rng, double mean_ps) noexcept {
  const double u = static_cast<double>((rng.next() >> 11) + 1) * 0x1p-53;  // (0, 1]
  return Duration{static_cast<std::int64_t>(-mean_ps * natural_log(u) + 0.5)};
}

Bytes draw_size(RngStream& rng, const spec::FlowSizes& sizes, std::int64_t step) noexcept {
  const std::int64_t size = sizes.at(rng.next()).n;
  return Bytes{(size + step - 1) / step * step};
}

}  // namespace railyard::workload
