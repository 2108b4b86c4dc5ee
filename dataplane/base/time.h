// Modelled time: signed 64-bit picoseconds. At 800 Gb/s a nanosecond tick is wrong by a fifth for a small frame; 64
// bits of picoseconds last 106 days. Nothing here reads a clock.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace railyard {

// A span of modelled time, in picoseconds.
struct Duration {
  std::int64_t ps = 0;

  auto operator<=>(const Duration&) const = default;
  constexpr Duration& operator+=(Duration d) noexcept { return ps += d.ps, *this; }
  constexpr Duration& operator-=(Duration d) noexcept { return ps -= d.ps, *this; }
};

constexpr Duration operator+(Duration a, Duration b) noexcept { return {a.ps + b.ps}; }
constexpr Duration operator-(Duration a, Duration b) noexcept { return {a.ps - b.ps}; }
constexpr Duration operator*(Duration d, std::int64_t n) noexcept { return {d.ps * n}; }
constexpr Duration operator*(std::int64_t n, Duration d) noexcept { return d * n; }
constexpr Duration operator/(Duration d, std::int64_t n) noexcept { return {d.ps / n}; }
// How many whole `b` fit in `a`.
constexpr std::int64_t operator/(Duration a, Duration b) noexcept { return a.ps / b.ps; }

// A point of modelled time, in picoseconds since the run began.
struct Instant {
  std::int64_t ps = 0;

  auto operator<=>(const Instant&) const = default;

  // Later than everything; what "nothing to do" is called.
  static constexpr Instant never() noexcept { return {std::numeric_limits<std::int64_t>::max()}; }
};

// never() + d stays never(): T + W saturates (engine rule for the last window).
constexpr Instant operator+(Instant t, Duration d) noexcept {
  std::int64_t sum = 0;
  return __builtin_add_overflow(t.ps, d.ps, &sum) ? Instant::never() : Instant{sum};
}
constexpr Instant operator+(Duration d, Instant t) noexcept { return t + d; }
constexpr Instant operator-(Instant t, Duration d) noexcept { return {t.ps - d.ps}; }
constexpr Duration operator-(Instant a, Instant b) noexcept { return {a.ps - b.ps}; }

// Seconds as a floating-point number, for reports only: decisions use integers.
constexpr double seconds(Duration d) noexcept { return static_cast<double>(d.ps) * 1e-12; }
constexpr std::int64_t nanoseconds(Duration d) noexcept { return d.ps / 1000; }

namespace literals {
constexpr Duration operator""_ps(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n)}; }
constexpr Duration operator""_ns(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) * 1'000}; }
constexpr Duration operator""_us(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) * 1'000'000}; }
constexpr Duration operator""_ms(unsigned long long n) noexcept {
  return {static_cast<std::int64_t>(n) * 1'000'000'000};
}
constexpr Duration operator""_s(unsigned long long n) noexcept {
  return {static_cast<std::int64_t>(n) * 1'000'000'000'000};
}
}  // namespace literals

}  // namespace railyard
