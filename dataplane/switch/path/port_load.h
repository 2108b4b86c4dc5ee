// What path selection knows of a port: whether it is there, how fast it is and what waits in it.
#pragma once

#include <bit>
#include <cstdint>

#include "dataplane/base/units.h"

namespace railyard {

// Four of them share a cache line: all members of a group are looked at for each packet.
struct PortLoad {
  std::uint32_t cells = 0;         // of the buffer, in all egress queues of the port together
  std::uint32_t cell_time_ns8 = 0; // of one cell at the port's rate, in 1/256 ns
  std::uint32_t weight = 1;        // in proportion to the rate
  bool up = true;

  // How long the queues take to drain, in 1/256 ns.
  std::uint64_t drain() const noexcept { return std::uint64_t{cells} * cell_time_ns8; }
};

// The grade of a drain time: 0 below the first band's end, each next up to twice as long (PathConfig).
class QualityBands {
 public:
  constexpr QualityBands() noexcept = default;
  // `band` > 0, `bands` > 0.
  constexpr QualityBands(Duration band, std::uint32_t bands) noexcept
      : last_(bands - 1),
        // 2^64 / band; times a drain time the upper half is how many bands it is worth.
        per_band_(static_cast<std::uint64_t>((UInt128{1} << 64) / (static_cast<UInt128>(band.ps) * 256 / 1000 + 1))) {}

  constexpr std::uint32_t grade(std::uint64_t drain) const noexcept {
    const auto worth = static_cast<std::uint64_t>((static_cast<UInt128>(drain) * per_band_) >> 64);
    const auto g = static_cast<std::uint32_t>(std::bit_width(worth));
    return g < last_ ? g : last_;
  }

 private:
  std::uint32_t last_ = 0;
  std::uint64_t per_band_ = 0;
};

}  // namespace railyard
