// Decimal fractions as they are written: "2.5" is exactly 25 / 10, never the double nearest to it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

namespace railyard::spec {

// digits / 10^scale, not negative. Zeros at the end of the fraction are left out, so the form is unique.
struct Decimal {
  std::uint64_t digits = 0;
  int scale = 0;  // 0..18

  // "12", "0.5", "1.50"; nothing for anything else, for more than 19 digits or for more than 18 behind the point.
  static std::optional<Decimal> parse(std::string_view text) noexcept;

  constexpr bool whole() const noexcept { return scale == 0; }
};

// value x unit to the nearest integer, halves up; nothing when it does not fit. `unit` > 0.
std::optional<std::int64_t> times(Decimal value, std::int64_t unit) noexcept;

// n / unit as a decimal, if it is one with at most `most_scale` digits behind the point. `n` >= 0, `unit` > 0.
std::optional<Decimal> quotient(std::int64_t n, std::int64_t unit, int most_scale) noexcept;

}  // namespace railyard::spec
