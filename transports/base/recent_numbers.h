// Which of the numbers 0, 1, 2, ... have come, when they come nearly in order and some may never come.
#pragma once

#include <array>
#include <cstdint>

namespace railyard {

// Remembers the last kRemembered numbers up to the newest, in a bitmap of fixed size.
class RecentNumbers {
 public:
  static constexpr std::uint64_t kRemembered = 4096;

  // Whether `n` comes for the first time. A number more than kRemembered behind the newest counts as known.
  bool add(std::uint64_t n) noexcept {
    if (n >= end_) {
      if (n - end_ >= kRemembered) {
        bits_ = {};
      } else {
        for (std::uint64_t k = end_; k < n; ++k) word(k) &= ~bit(k);
      }
      end_ = n + 1;
    } else if (end_ - n > kRemembered || (word(n) & bit(n)) != 0) {
      return false;
    }
    word(n) |= bit(n);
    return true;
  }

 private:
  std::uint64_t& word(std::uint64_t n) noexcept { return bits_[n % kRemembered / 64]; }
  static std::uint64_t bit(std::uint64_t n) noexcept { return std::uint64_t{1} << n % 64; }

  std::uint64_t end_ = 0;  // the newest + 1
  std::array<std::uint64_t, kRemembered / 64> bits_{};
};

}  // namespace railyard
