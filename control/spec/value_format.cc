#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "control/spec/decimal.h"
#include "control/spec/quantity.h"
#include "control/spec/value.h"

namespace railyard::spec {
namespace {

std::string to_string(Decimal value) {
  std::string text = fmt::format("{:0{}}", value.digits, value.scale + 1);
  if (value.scale > 0) text.insert(text.size() - static_cast<std::size_t>(value.scale), ".");
  return text;
}

std::string format_amount(std::int64_t n, const Quantity& quantity) {
  if (n == 0) return "0";
  if (n < 0) return "-" + format_amount(-n, quantity);  // for messages; a file has none
  std::string best;
  bool best_is_whole = false;
  for (const Unit& unit : quantity.units) {
    if (!unit.written) continue;
    const std::optional<Decimal> value = quotient(n, unit.amount, 18);
    if (!value) continue;
    std::string text = to_string(*value).append(unit.name);
    // What was rounded to n on the way in may be n on the way out, but nothing here rounds: the quotient is exact.
    if (best.empty() || text.size() < best.size() || (text.size() == best.size() && value->whole() && !best_is_whole)) {
      best = std::move(text);
      best_is_whole = value->whole();
    }
  }
  return best;
}

}  // namespace

std::string format(Duration value) { return format_amount(value.ps, kTime); }
std::string format(Bytes value) { return format_amount(value.n, kSize); }
std::string format(BitRate value) { return format_amount(value.bps, kRate); }
std::string format(Length value) { return format_amount(value.mm, kLength); }

std::string format(Ratio value) {
  return value.denominator == 1 ? fmt::format("{}", value.numerator)
                                : fmt::format("{}/{}", value.numerator, value.denominator);
}

std::string format_clock_error(std::uint32_t billionths) {
  return billionths == 0 ? "0" : to_string(*quotient(billionths, 1000, 3)) + "ppm";
}

std::string format_ppm(std::uint32_t ppm) {
  if (ppm == 0) return "0";
  return to_string(*quotient(ppm, 10'000, 4)) + '%';
}

std::string format_power_of_two(int exponent) {
  return exponent >= 0 ? fmt::format("{}", 1 << exponent) : fmt::format("1/{}", 1 << -exponent);
}

std::string format(const PortName& port) { return fmt::format("{}:{}", port.node, port.port); }

}  // namespace railyard::spec
