// Packet sequence numbers of 24 bits, whose order is that of a circle.
#pragma once

#include <cstdint>

namespace railyard::doctor {

inline constexpr std::uint32_t kPsns = 1u << 24;

// Whether `psn` is behind `expected`, in the half of the circle that is the past.
constexpr bool is_before(std::uint32_t psn, std::uint32_t expected) noexcept {
  return ((psn - expected) & (kPsns - 1)) >= kPsns / 2;
}

}  // namespace railyard::doctor
