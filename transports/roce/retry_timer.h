// Times and counts of retransmission, roce-and-lossless §5.9.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard::roce {

// The local ACK timeout of code 1..31: 4.096 us * 2^code. Code 0: none, Duration{}.
// The standard lets it expire anywhere from that on to four times that; here it is exact.
constexpr Duration local_ack_timeout(std::uint8_t code) noexcept {
  return code == 0 ? Duration{} : Duration{std::int64_t{4'096'000} << (code & 31)};
}

// How many times more something may be tried. Reloaded whenever there is progress.
class RetryCount {
 public:
  constexpr RetryCount() noexcept = default;
  // `endless`: there is always one more.
  constexpr RetryCount(std::uint8_t most, bool endless) noexcept : most_(most), left_(most), endless_(endless) {}

  constexpr void reload() noexcept { left_ = most_; }
  // Whether there is one more; takes it.
  constexpr bool spend() noexcept {
    if (endless_) return true;
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  constexpr std::uint8_t left() const noexcept { return left_; }

 private:
  std::uint8_t most_ = 0;
  std::uint8_t left_ = 0;
  bool endless_ = false;
};

}  // namespace railyard::roce
