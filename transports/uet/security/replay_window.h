// Which counters of one source and association were received: a sliding window.
//
// DEVIATION UET page §11: there, only the PSNs and the Expected_PSN of secure PDCs (§5.3) protect against replays, so RUDI
// and UUD are unprotected. Here a window over the 48-bit counter of the tsc protects packets of every mode, as in IPsec
// (RFC 4303 §3.4.3), and PDCs open without Expected_PSN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace railyard::uet {

class ReplayWindow {
 public:
  // `size`: counters, a power of two from 64 on.
  explicit ReplayWindow(std::uint32_t size);

  // Not received before, and not older than the window.
  bool is_new(std::uint64_t counter) const noexcept;
  // Of a packet that is_new() and authentic. Moves the window on if it is the newest.
  void accept(std::uint64_t counter) noexcept;
  // Of a new epoch: nothing was received.
  void clear() noexcept;

 private:
  std::uint64_t size() const noexcept { return std::uint64_t{64} * words_.size(); }
  std::size_t word(std::uint64_t counter) const noexcept {
    return static_cast<std::size_t>(counter / 64) & (words_.size() - 1);
  }

  std::vector<std::uint64_t> words_;  // a bit for each counter, modulo size()
  std::uint64_t next_ = 0;            // the newest one that was received, and one more
};

}  // namespace railyard::uet
