// Chance of faults: probabilities as integers, so that every build decides the same.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/base/rng.h"

namespace railyard {

// How likely something is: 0, 1, or a fraction of 2^64. Certain things draw nothing.
class Chance {
 public:
  // Never.
  constexpr Chance() noexcept = default;
  static constexpr Chance always() noexcept { return Chance(~std::uint64_t{0}, true); }
  // numerator / denominator: 0 <= numerator <= denominator, denominator > 0.
  static Chance of(std::int64_t numerator, std::int64_t denominator) noexcept;

  bool is_never() const noexcept { return !always_ && of_2_64_ == 0; }
  bool is_always() const noexcept { return always_; }
  bool happens(RngStream& rng) const noexcept { return always_ || (of_2_64_ != 0 && rng.next() < of_2_64_); }

 private:
  constexpr Chance(std::uint64_t of_2_64, bool always) noexcept : of_2_64_(of_2_64), always_(always) {}

  std::uint64_t of_2_64_ = 0;
  bool always_ = false;
};

// Loss in bursts: a Markov chain of two states, each with its own probability of loss (E. N. Gilbert, BSTJ 1960;
// E. O. Elliott, BSTJ 1963). The chain steps once per frame, before the frame is judged.
struct GilbertElliott {
  Chance good_to_bad;  // p
  Chance bad_to_good;  // r
  Chance in_good;      // of loss: 1 - k
  Chance in_bad;       // of loss: 1 - h

  // `bad`: the state, which begins as good.
  bool loses(bool& bad, RngStream& rng) const noexcept {
    if ((bad ? bad_to_good : good_to_bad).happens(rng)) bad = !bad;
    return (bad ? in_bad : in_good).happens(rng);
  }
};

// Independent bit errors: a frame of n bits has at least one with probability 1 - (1 - b)^n.
class BitErrors {
 public:
  // b = numerator / denominator, in (0, 1].
  BitErrors(std::int64_t numerator, std::int64_t denominator) noexcept;

  // Whether a frame of `octets` octets, FCS included, is hit.
  bool hit(std::uint32_t octets, RngStream& rng) const noexcept { return rng.next() >= intact(octets); }
  // The probability that it is not, as a fraction of 2^64.
  std::uint64_t intact(std::uint32_t octets) const noexcept;

 private:
  // (1 - b)^(8 x 2^i), as fractions of 2^64: what a frame of 2^i octets has.
  std::array<std::uint64_t, 32> intact_;
};

}  // namespace railyard
