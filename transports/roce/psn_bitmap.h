// A bit for each of the PSNs in a window that moves on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/roce/psn.h"

namespace railyard::roce {

class PsnBitmap {
 public:
  PsnBitmap() = default;
  // `window`: how many PSNs lie in it at a time, a power of two, 64..2^23.
  explicit PsnBitmap(std::uint32_t window) : words_(window / 64), mask_(window - 1) {}

  // Of PSNs that are in the window.
  bool test(Psn psn) const noexcept { return (words_[word(psn)] >> (psn.value() & 63) & 1) != 0; }
  void set(Psn psn) noexcept { words_[word(psn)] |= std::uint64_t{1} << (psn.value() & 63); }
  void clear(Psn psn) noexcept { words_[word(psn)] &= ~(std::uint64_t{1} << (psn.value() & 63)); }
  void clear_all() noexcept { words_.assign(words_.size(), 0); }

 private:
  std::size_t word(Psn psn) const noexcept { return (psn.value() & mask_) >> 6; }

  std::vector<std::uint64_t> words_;
  std::uint32_t mask_ = 0;
};

}  // namespace railyard::roce
