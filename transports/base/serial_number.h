// Serial numbers that wrap: PSN, MSN and the like (compare RFC 1982).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/assert.h"

namespace railyard {

// A number of `bits` bits, <= 32, that comes after its greatest value to 0 again. Which of two is earlier can be said
// only if they are less than half the circle apart, so there is a difference and no order. `Tag` keeps kinds apart.
template <class Tag, std::size_t bits>
class SerialNumber {
  static_assert(bits >= 2 && bits <= 32);

 public:
  static constexpr std::uint32_t kMax = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
  // The farthest that one may be ahead of another: of 24 bits 2^23 - 1.
  static constexpr std::uint32_t kMostAhead = kMax / 2;

  constexpr SerialNumber() noexcept = default;
  // 0..kMax
  constexpr explicit SerialNumber(std::uint32_t value) noexcept : value_(value) {
    RAILYARD_EXPENSIVE_ASSERT(value <= kMax, "a serial number fits its bits");
  }

  constexpr std::uint32_t value() const noexcept { return value_; }
  bool operator==(const SerialNumber&) const = default;

  friend constexpr SerialNumber operator+(SerialNumber a, std::uint32_t n) noexcept {
    return SerialNumber((a.value_ + n) & kMax);
  }
  friend constexpr SerialNumber operator-(SerialNumber a, std::uint32_t n) noexcept {
    return SerialNumber((a.value_ - n) & kMax);
  }
  // How far `a` is ahead of `b`, -2^(bits-1)..2^(bits-1)-1: less than 0 is behind.
  friend constexpr std::int32_t operator-(SerialNumber a, SerialNumber b) noexcept {
    constexpr unsigned kUnused = 32 - bits;
    return static_cast<std::int32_t>((a.value_ - b.value_) << kUnused) >> kUnused;
  }
  constexpr SerialNumber& operator+=(std::uint32_t n) noexcept { return *this = *this + n; }
  constexpr SerialNumber& operator++() noexcept { return *this += 1; }

 private:
  std::uint32_t value_ = 0;
};

}  // namespace railyard
