// A logarithm that is the same on every machine: draws of exponential distributions need it.
#pragma once

#include <cmath>

namespace railyard {

// The natural logarithm of a number in (0, 1], by plain IEEE arithmetic. To 1e-15.
//
// x = m 2^e with m in [0.5, 1), and ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most a third.
inline double natural_log(double x) noexcept {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr int kTerms = 18;
  int exponent = 0;
  const double m = std::frexp(x, &exponent);  // exact
  const double z = (m - 1) / (m + 1);
  double sum = 0;
  for (int k = kTerms; k >= 0; --k) sum = sum * z * z + 1.0 / (2 * k + 1);
  return 2 * z * sum + exponent * kLn2;
}

}  // namespace railyard
