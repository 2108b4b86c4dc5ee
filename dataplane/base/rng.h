// Chance as a parameter. Each drawer (a queue, a link, a fault, a flow) has a stream of its own, named; a draw depends
// on the run's seed, the name and the stream's own count only, so adding one drawer leaves the others' draws as they
// were.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataplane/base/hash.h"

namespace railyard {

// The seed of a run.
struct Seed {
  std::uint64_t value = 1;
};

// SplitMix64 with the key as start: draw n is mix64(key + (n + 1) x golden ratio), so the state is the count alone.
class RngStream {
 public:
  constexpr RngStream() noexcept = default;
  constexpr RngStream(Seed seed, std::string_view name) noexcept
      : state_(mix64(mix64(seed.value + 0x9E3779B97F4A7C15ull) ^ hash_string(name))) {}

  // A uniform 64-bit number.
  constexpr std::uint64_t next() noexcept { return mix64(state_ += 0x9E3779B97F4A7C15ull); }
  // A uniform fraction of 2^32.
  constexpr std::uint32_t next32() noexcept { return static_cast<std::uint32_t>(next() >> 32); }
  // A number in [0, n), n > 0. Bias below 2^-32 for n < 2^32.
  constexpr std::uint64_t below(std::uint64_t n) noexcept {
    return static_cast<std::uint64_t>((static_cast<UInt128>(next()) * n) >> 64);
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace railyard
