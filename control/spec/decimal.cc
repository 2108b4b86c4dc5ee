#include "control/spec/decimal.h"

#include <limits>

#include "dataplane/base/units.h"

namespace railyard::spec {
namespace {

constexpr int kMostScale = 18;

constexpr std::uint64_t power_of_ten(int n) noexcept {
  std::uint64_t power = 1;
  for (; n > 0; --n) power *= 10;
  return power;
}

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  std::string_view fraction = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const std::string_view integer = text.substr(0, point);
  if (integer.empty() || (point != std::string_view::npos && fraction.empty())) return std::nullopt;
  for (const char c : fraction)
    if (!is_digit(c)) return std::nullopt;
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  if (fraction.size() > static_cast<std::size_t>(kMostScale)) return std::nullopt;

  Decimal value{0, static_cast<int>(fraction.size())};
  for (const std::string_view part : {integer, fraction}) {
    for (const char c : part) {
      if (!is_digit(c)) return std::nullopt;
      if (__builtin_mul_overflow(value.digits, 10u, &value.digits) ||
          __builtin_add_overflow(value.digits, static_cast<unsigned>(c - '0'), &value.digits)) {
        return std::nullopt;
      }
    }
  }
  return value;
}

std::optional<std::int64_t> times(Decimal value, std::int64_t unit) noexcept {
  // 2^64 x 2^63 fits in 128 bits, and so does half a divisor more.
  const UInt128 product = static_cast<UInt128>(value.digits) * static_cast<std::uint64_t>(unit);
  const std::uint64_t divisor = power_of_ten(value.scale);
  const UInt128 rounded = (product + divisor / 2) / divisor;
  if (rounded > static_cast<UInt128>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(rounded);
}

std::optional<Decimal> quotient(std::int64_t n, std::int64_t unit, int most_scale) noexcept {
  for (int scale = 0; scale <= most_scale && scale <= kMostScale; ++scale) {
    const UInt128 scaled = static_cast<UInt128>(static_cast<std::uint64_t>(n)) * power_of_ten(scale);
    if (scaled % static_cast<std::uint64_t>(unit) != 0) continue;
    const UInt128 digits = scaled / static_cast<std::uint64_t>(unit);
    if (digits > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return Decimal{static_cast<std::uint64_t>(digits), scale};
  }
  return std::nullopt;
}

}  // namespace railyard::spec
