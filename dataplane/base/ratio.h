// An exact fraction, as settings have it: 1/256.
#pragma once

#include <cstdint>

namespace railyard {

struct Ratio {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  constexpr Ratio() noexcept = default;
  // (Implicit: a whole number is one.)
  constexpr Ratio(std::int64_t n, std::int64_t d = 1) noexcept : numerator(n), denominator(d) {}
  bool operator==(const Ratio&) const = default;

  constexpr double value() const noexcept { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

}  // namespace railyard
