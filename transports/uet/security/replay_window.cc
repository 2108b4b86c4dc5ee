#include "transports/uet/security/replay_window.h"

#include <algorithm>
#include <bit>

#include "dataplane/base/assert.h"

namespace railyard::uet {

ReplayWindow::ReplayWindow(std::uint32_t size) : words_(size / 64) {
  RAILYARD_ASSERT(size >= 64 && std::has_single_bit(size), "a replay window is a power of two from 64 on");
}

bool ReplayWindow::is_new(std::uint64_t counter) const noexcept {
  if (counter >= next_) return true;
  if (next_ - counter > size()) return false;
  return (words_[word(counter)] >> (counter % 64) & 1) == 0;
}

void ReplayWindow::accept(std::uint64_t counter) noexcept {
  if (counter >= next_) {
    if (counter - next_ >= size()) {
      std::ranges::fill(words_, 0);
    } else {
      // The places of those between stand for older ones.
      for (std::uint64_t n = next_; n <= counter;) {
        if (n % 64 == 0 && counter - n >= 63) {
          words_[word(n)] = 0;
          n += 64;
        } else {
          words_[word(n)] &= ~(std::uint64_t{1} << (n % 64));
          ++n;
        }
      }
    }
    next_ = counter + 1;
  }
  words_[word(counter)] |= std::uint64_t{1} << (counter % 64);
}

void ReplayWindow::clear() noexcept {
  std::ranges::fill(words_, 0);
  next_ = 0;
}

}  // namespace railyard::uet
