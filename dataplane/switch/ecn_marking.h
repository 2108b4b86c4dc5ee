// Explicit congestion notification on one egress queue (RFC 3168; the marking law of DCQCN, SIGCOMM 2015, figure 5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/units.h"
#include "dataplane/wire/ecn.h"

namespace railyard {

struct EcnConfig {
  bool enabled = false;
  Bytes kmin{400'000};               // no marks up to this depth
  Bytes kmax{1'600'000};             // every ECT frame is marked above this
  std::uint32_t pmax_ppm = 200'000;  // marking probability at kmax, in parts per million; above it jumps to 1
  bool at_dequeue = false;           // mark by the queue left behind, not the queue found
  bool drop_not_ect = false;         // WRED: Not-ECT frames of a lossy class are dropped with the same probability

  bool operator==(const EcnConfig&) const = default;
};

std::expected<void, std::string> validate(const EcnConfig& config, const std::string& where);

// The probability as a fraction of 2^32 for a depth in cells: integers, so that every build decides the same.
//   p = 0                                   depth <= Kmin
//     = Pmax (depth - Kmin) / (Kmax - Kmin) Kmin < depth <= Kmax
//     = 1                                   depth > Kmax
class MarkingLaw {
 public:
  constexpr MarkingLaw() noexcept = default;  // never marks
  constexpr MarkingLaw(const EcnConfig& config, Bytes cell) noexcept {
    if (!config.enabled) return;
    // Beyond what any queue can hold, it does not matter by how much.
    constexpr std::int64_t kMostCells = std::int64_t{1} << 31;
    kmin_ = static_cast<std::uint32_t>(std::min(config.kmin.n / cell.n, kMostCells));
    kmax_ = static_cast<std::uint32_t>(std::min(config.kmax.n / cell.n, kMostCells));
    if (kmax_ > kmin_)
      slope_q16_ = static_cast<std::uint64_t>((UInt128{config.pmax_ppm} << 48) / 1'000'000) / (kmax_ - kmin_);
  }

  // Whether a draw can be needed at all.
  constexpr bool may_mark(std::uint32_t depth) const noexcept { return depth > kmin_; }
  constexpr std::uint64_t probability(std::uint32_t depth) const noexcept {
    if (depth <= kmin_) return 0;
    if (depth > kmax_) return kCertain;
    return (std::uint64_t{depth - kmin_} * slope_q16_) >> 16;
  }

  static constexpr std::uint64_t kCertain = std::uint64_t{1} << 32;

 private:
  std::uint32_t kmin_ = ~std::uint32_t{0};
  std::uint32_t kmax_ = ~std::uint32_t{0};
  std::uint64_t slope_q16_ = 0;
};

// Only ECN-capable packets are marked (RFC 3168 §5); a Not-ECT packet is never turned into CE. `probability` and `draw`
// are fractions of 2^32.
constexpr wire::Ecn mark(wire::Ecn in, std::uint64_t probability, std::uint32_t draw) noexcept {
  return in != wire::Ecn::kNotEct && draw < probability ? wire::Ecn::kCe : in;
}

}  // namespace railyard
