// Mixing functions for hashing, draws and digests. Not cryptographic; the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "dataplane/base/units.h"

namespace railyard {

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection with full avalanche.
constexpr std::uint64_t mix64(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// The two halves of a 128-bit product folded together.
constexpr std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  const UInt128 p = static_cast<UInt128>(a) * b;
  return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64);
}

// 64-bit hash of a string (FNV-1a, finalised); usable in constant expressions.
constexpr std::uint64_t hash_string(std::string_view s) noexcept {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix64(h);
}

// 64-bit hash of octets, eight at a time.
inline std::uint64_t hash_octets(std::span<const std::byte> octets, std::uint64_t seed) noexcept {
  const std::byte* p = octets.data();
  std::size_t n = octets.size();
  std::uint64_t h = seed ^ (n * 0x9E3779B97F4A7C15ull);
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = fold_multiply(h ^ word, 0xD6E8FEB86659FD93ull);
  }
  if (n > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, n);
    h = fold_multiply(h ^ word, 0xD6E8FEB86659FD93ull);
  }
  return mix64(h);
}

}  // namespace railyard
