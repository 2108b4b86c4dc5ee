// What path selection knows of a port: whether it is there, how fast it is and what waits in it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/base/units.h"

namespace railyard {

// Four of them share a cache line: all members of a group are looked at for each packet.
struct PortLoad {
  std::uint32_t cells = 0;         // of the buffer, in all egress queues of the port together
  std::uint32_t cell_time_ns8 = 0; // of one cell at the port's rate, in 1/256 ns
  std::uint32_t weight = 1;        // in proportion to the rate
  std::uint16_t bundle = 0;        // of link aggregation; 0: none
  bool up = true;

  // How long the queues take to drain, in 1/256 ns.
  std::uint64_t drain() const noexcept { return std::uint64_t{cells} * cell_time_ns8; }
};

// The grade of a drain time: 0 below the first band's end, each next up to twice as long (PathConfig).
class QualityBands {
 public:
  static constexpr std::uint32_t kMost = 32;

  constexpr QualityBands() noexcept = default;
  // `band` > 0, 0 < `bands` <= kMost.
  constexpr QualityBands(Duration band, std::uint32_t bands) noexcept
      : last_(bands - 1),
        // 2^64 / band; times a drain time the upper half is how many bands it is worth.
        per_band_(static_cast<std::uint64_t>((UInt128{1} << 64) / (static_cast<UInt128>(band.ps) * 256 / 1000 + 1))) {
    for (std::uint32_t g = 0; g < last_; ++g) {
      const UInt128 end = ((UInt128{1} << (64 + g)) + per_band_ - 1) / per_band_;
      ends_[g] = end >> 64 != 0 ? kNever : static_cast<std::uint64_t>(end);
    }
    ends_[last_] = kNever;
  }

  constexpr std::uint32_t grade(std::uint64_t drain) const noexcept {
    const auto worth = static_cast<std::uint64_t>((static_cast<UInt128>(drain) * per_band_) >> 64);
    const auto g = static_cast<std::uint32_t>(std::bit_width(worth));
    return g < last_ ? g : last_;
  }
  // The drain times of a grade: from begin() to below end(); the last grade's end is never reached.
  constexpr std::uint64_t begin(std::uint32_t grade) const noexcept { return grade == 0 ? 0 : ends_[grade - 1]; }
  constexpr std::uint64_t end(std::uint32_t grade) const noexcept { return ends_[grade]; }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  std::uint32_t last_ = 0;
  std::uint64_t per_band_ = 0;
  std::array<std::uint64_t, kMost> ends_{kNever};
};

}  // namespace railyard
