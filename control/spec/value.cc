#include "control/spec/value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "control/spec/decimal.h"
#include "control/spec/quantity.h"
#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

auto wrong(std::string what) { return std::unexpected(std::move(what)); }

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The number that `text` begins with, and the rest without the blanks between.
std::pair<std::string_view, std::string_view> split_number(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  std::string_view rest = text.substr(end);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return {text.substr(0, end), rest};
}

std::vector<std::string> unit_names(const Quantity& quantity) {
  std::vector<std::string> names;
  for (const Unit& unit : quantity.units)
    if (static_cast<unsigned char>(unit.name[0]) < 0x80) names.emplace_back(unit.name);
  return names;
}

std::string expected(const Quantity& quantity) {
  return fmt::format("expected {} such as {} (units: {})", quantity.noun, quantity.examples,
                     fmt::join(unit_names(quantity), ", "));
}

Parsed<std::int64_t> parse_amount(std::string_view text, const Quantity& quantity) {
  if (text.starts_with('-')) return wrong(fmt::format("{} is negative; {}", text, expected(quantity)));
  const auto [number, unit_name] = split_number(text);
  if (number.empty()) return wrong(fmt::format("'{}' is not {}; {}", text, quantity.noun, expected(quantity)));
  const std::optional<Decimal> value = Decimal::parse(number);
  if (!value) return wrong(fmt::format("'{}' is not a number, or too long; {}", number, expected(quantity)));
  if (unit_name.empty()) {
    if (value->digits == 0) return 0;
    return wrong(fmt::format("{} has no unit; {}", text, expected(quantity)));
  }
  const auto unit = std::ranges::find(quantity.units, unit_name, &Unit::name);
  if (unit == quantity.units.end()) {
    const std::string guess = did_you_mean(unit_name, unit_names(quantity));
    return wrong(fmt::format("unknown unit '{}' in '{}'{} {}", unit_name, text, guess.empty() ? ";" : guess,
                             guess.empty() ? expected(quantity) : "E" + expected(quantity).substr(1)));
  }
  if (unit->amount == 1 && !value->whole())
    return wrong(fmt::format("{} is not a whole number of {}", text, quantity.smallest));
  const std::optional<std::int64_t> amount = times(*value, unit->amount);
  if (!amount) return wrong(fmt::format("{} is too large to count in {}", text, quantity.smallest));
  if (*amount == 0 && value->digits != 0)
    return wrong(fmt::format("{} is less than one of the counted {}", text, quantity.smallest));
  return *amount;
}

template <class T>
Parsed<T> parse_as(std::string_view text, const Quantity& quantity) {
  const Parsed<std::int64_t> amount = parse_amount(text, quantity);
  if (!amount) return wrong(amount.error());
  return T{*amount};
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;  // 010: eight to some
  return n;
}

constexpr std::string_view kRatioExpected = "expected a fraction such as 0.2, 20% or 1/100";
constexpr std::uint64_t kMostTerm = 1'000'000'000'000;  // of a ratio; products of two still fit

}  // namespace

Parsed<Duration> parse_duration(std::string_view text) { return parse_as<Duration>(text, kTime); }
Parsed<Bytes> parse_size(std::string_view text) { return parse_as<Bytes>(text, kSize); }
Parsed<BitRate> parse_rate(std::string_view text) { return parse_as<BitRate>(text, kRate); }
Parsed<Length> parse_length(std::string_view text) { return parse_as<Length>(text, kLength); }

Parsed<Ratio> parse_ratio(std::string_view text) {
  std::optional<std::uint64_t> above, below;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    above = whole_number(text.substr(0, slash));
    below = whole_number(text.substr(slash + 1));
  } else {
    const bool percent = text.ends_with('%');
    const std::optional<Decimal> value = Decimal::parse(percent ? text.substr(0, text.size() - 1) : text);
    if (value && value->scale <= 10) {
      above = value->digits;
      below = percent ? 100 : 1;
      for (int i = 0; i < value->scale; ++i) *below *= 10;
    }
  }
  if (!above || !below) return wrong(fmt::format("'{}' is not a fraction; {}", text, kRatioExpected));
  if (*below == 0) return wrong(fmt::format("{} divides by zero; {}", text, kRatioExpected));
  const std::uint64_t common = std::gcd(*above, *below);
  *above /= common;
  *below /= common;
  if (*above > kMostTerm || *below > kMostTerm) return wrong(fmt::format("{} has too many digits", text));
  return Ratio{static_cast<std::int64_t>(*above), static_cast<std::int64_t>(*below)};
}

Parsed<Ratio> parse_probability(std::string_view text) {
  Parsed<Ratio> ratio = wrong("");
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos && e + 2 < text.size() &&
                                                      text[e + 1] == '-') {
    const std::optional<Decimal> value = Decimal::parse(text.substr(0, e));
    const std::optional<std::uint64_t> power = whole_number(text.substr(e + 2));
    if (value && power && *power <= 12 && value->scale <= 6) {
      std::uint64_t below = 1;
      for (std::uint64_t i = 0; i < *power + static_cast<std::uint64_t>(value->scale); ++i) below *= 10;
      const std::uint64_t common = std::gcd(value->digits, below);
      if (value->digits / common <= kMostTerm && below / common <= kMostTerm)
        ratio = Ratio{static_cast<std::int64_t>(value->digits / common), static_cast<std::int64_t>(below / common)};
    }
    if (!ratio) return wrong(fmt::format("'{}' is not a probability; expected e.g. 1%, 0.001 or 1e-12", text));
  } else {
    ratio = parse_ratio(text);
    if (!ratio) return ratio;
  }
  if (ratio->numerator > ratio->denominator)
    return wrong(fmt::format("{} is above 1; expected 0..1 or 0%..100%", text));
  return ratio;
}

Parsed<std::uint32_t> parse_ppm(std::string_view text) {
  const Parsed<Ratio> ratio = parse_ratio(text);
  if (!ratio) return wrong(ratio.error());
  if (ratio->numerator > ratio->denominator)
    return wrong(fmt::format("{} is above 1; expected 0..1 or 0%..100%", text));
  const Int128 scaled = static_cast<Int128>(ratio->numerator) * 1'000'000;
  return static_cast<std::uint32_t>((scaled + ratio->denominator / 2) / ratio->denominator);
}

Parsed<std::uint32_t> parse_clock_error(std::string_view text) {
  constexpr std::string_view kExpected = "expected 0..1000ppm, such as 100ppm";
  constexpr std::int64_t kMost = 1'000'000;
  if (text == "0") return 0u;
  constexpr std::string_view kUnit = "ppm";
  if (!text.ends_with(kUnit)) return wrong(fmt::format("'{}' is not in parts per million; {}", text, kExpected));
  const auto number = Decimal::parse(text.substr(0, text.size() - kUnit.size()));
  const auto billionths = number ? times(*number, 1000) : std::nullopt;
  if (!billionths) return wrong(fmt::format("'{}' is not a number of ppm; {}", text, kExpected));
  if (*billionths > kMost) return wrong(fmt::format("{} is out of range; {}", text, kExpected));
  return static_cast<std::uint32_t>(*billionths);
}

Parsed<int> parse_power_of_two(std::string_view text) {
  constexpr std::string_view kExpected = "expected a power of two: 1/256, ..., 1/8, 1/4, 1/2, 1, 2, 4, ..., 128";
  const Parsed<Ratio> ratio = parse_ratio(text);
  if (!ratio) return wrong(fmt::format("'{}' is not a number; {}", text, kExpected));
  const auto above = static_cast<std::uint64_t>(ratio->numerator);
  const auto below = static_cast<std::uint64_t>(ratio->denominator);
  if (!std::has_single_bit(above) || !std::has_single_bit(below))
    return wrong(fmt::format("{} is not a power of two; {}", text, kExpected));
  const int exponent = std::countr_zero(above) - std::countr_zero(below);
  if (exponent < -8 || exponent > 7) return wrong(fmt::format("{} is out of range; {}", text, kExpected));
  return exponent;
}

Parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return wrong(fmt::format("'{}' is neither true nor false", text));
}

Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  const bool negative = text.starts_with('-');
  const std::optional<std::uint64_t> n = whole_number(negative ? text.substr(1) : text);
  if (!n) return wrong(fmt::format("'{}' is not a whole number; expected {}..{}", text, least, most));
  if (*n <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    const std::int64_t value = negative ? -static_cast<std::int64_t>(*n) : static_cast<std::int64_t>(*n);
    if (value >= least && value <= most) return value;
  }
  return wrong(fmt::format("{} is out of range; expected {}..{}", text, least, most));
}

Parsed<std::uint64_t> parse_seed(std::string_view text) {
  if (const std::optional<std::uint64_t> n = whole_number(text)) return *n;
  return wrong(fmt::format("'{}' is not a seed; expected a whole number below 2^64", text));
}

Parsed<wire::IpAddress> parse_ipv4(std::string_view text) {
  const std::optional<wire::IpAddress> address = wire::IpAddress::parse(text);
  if (address && address->is_v4() && text.find(':') == std::string_view::npos) return *address;
  return wrong(fmt::format("'{}' is not an IPv4 address; expected one such as 10.0.0.1", text));
}

Parsed<wire::IpAddress> parse_ipv6(std::string_view text) {
  const std::optional<wire::IpAddress> address = wire::IpAddress::parse(text);
  if (address && !address->is_v4()) return *address;
  return wrong(fmt::format("'{}' is not an IPv6 address; expected one such as fd00::1", text));
}

Parsed<wire::IpPrefix> parse_prefix(std::string_view text) {
  if (const std::optional<wire::IpPrefix> prefix = wire::IpPrefix::parse(text)) return *prefix;
  return wrong(
      fmt::format("'{}' is not a prefix; expected one such as 10.0.0.0/24 or fd00::/64, without host bits", text));
}

Parsed<wire::UdpEndpoint> parse_udp_endpoint(std::string_view text) {
  if (const std::optional<wire::UdpEndpoint> endpoint = wire::UdpEndpoint::parse(text)) return *endpoint;
  return wrong(fmt::format(
      "'{}' is not an address and port; expected e.g. 192.0.2.1:4800 or \"[2001:db8::1]:4800\"", text));
}

Parsed<wire::MacAddress> parse_mac(std::string_view text) {
  const auto bad = [&] {
    return wrong(fmt::format("'{}' is not a MAC address; expected one such as 02:00:00:00:00:01", text));
  };
  wire::MacAddress mac;
  if (text.size() != 17) return bad();
  for (std::size_t i = 0; i < mac.octets.size(); ++i) {
    const char* digits = text.data() + 3 * i;
    if (i > 0 && digits[-1] != ':') return bad();
    const auto [end, error] = std::from_chars(digits, digits + 2, mac.octets[i], 16);
    if (error != std::errc{} || end != digits + 2) return bad();
  }
  return mac;
}

Parsed<PortName> parse_port_name(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto bad = [&] { return wrong(fmt::format("'{}' is not a port; expected one such as leaf1:3", text)); };
  if (colon == std::string_view::npos) return bad();
  const Parsed<std::string> node = parse_name(text.substr(0, colon));
  const std::optional<std::uint64_t> port = whole_number(text.substr(colon + 1));
  if (!node || !port) return bad();
  if (*port == 0) return wrong(fmt::format("'{}': ports are counted from 1", text));
  if (*port > 8191) return wrong(fmt::format("'{}': a node has at most 8191 ports", text));
  return PortName{*node, static_cast<int>(*port)};
}

Parsed<std::string> parse_name(std::string_view text) {
  const auto is_alnum = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool good = !text.empty() && text.size() <= 63 && is_alnum(text[0]) &&
                    std::ranges::all_of(text, [&](char c) { return is_alnum(c) || c == '-' || c == '_'; });
  if (good) return std::string(text);
  return wrong(fmt::format(
      "'{}' is not a name; expected letters, digits, '-' and '_', at most 63, the first a letter or digit", text));
}

}  // namespace railyard::spec
