// The entropy values (EV) that a flow spreads its packets over, and the walk through all of them (uet §10.1, §10.2).
#pragma once

#include <bit>
#include <cstdint>

#include "dataplane/base/assert.h"
#include "dataplane/base/rng.h"

namespace railyard::uet {

inline constexpr std::uint32_t kMostPaths = 256;

// `paths` values: the low bits choose, the others are the flow's own.
class EntropySet {
 public:
  EntropySet() = default;
  // `paths`: 1..kMostPaths.
  EntropySet(std::uint32_t paths, RngStream& chance) noexcept
      : paths_(paths), mask_(static_cast<std::uint16_t>(std::bit_ceil(paths) - 1)) {
    RAILYARD_ASSERT(paths >= 1 && paths <= kMostPaths, "a flow has 1..256 paths");
    own_ = static_cast<std::uint16_t>(chance.next32() & ~std::uint32_t{mask_});
  }

  std::uint32_t paths() const noexcept { return paths_; }
  std::uint16_t value(std::uint32_t index) const noexcept { return static_cast<std::uint16_t>(own_ | index); }
  // Which one it is; paths(): none of these.
  std::uint32_t index(std::uint16_t value) const noexcept {
    const std::uint32_t index = value & mask_;
    return (value & ~mask_) == own_ && index < paths_ ? index : paths_;
  }
  // Peers say what they have heard, and may say anything: what is not the flow's own is not sent.
  bool has(std::uint16_t value) const noexcept { return index(value) < paths_; }
  std::uint32_t drawn(RngStream& chance) const noexcept { return static_cast<std::uint32_t>(chance.below(paths_)); }

  // The next of a walk that meets each one once, then again in another order: (counter XOR r) & mask.
  std::uint32_t walk(RngStream& chance) noexcept {
    for (;;) {
      if (counter_ > mask_) counter_ = 0;
      if (counter_ == 0) r_ = static_cast<std::uint16_t>(chance.next32());
      const std::uint32_t index = (counter_++ ^ r_) & mask_;
      if (index < paths_) return index;
    }
  }

 private:
  std::uint32_t paths_ = 1;
  std::uint16_t mask_ = 0;
  std::uint16_t own_ = 0;
  std::uint16_t r_ = 0;
  std::uint32_t counter_ = 0;
};

// What a packet's fate says of its path.
enum class PathFeedback : std::uint8_t {
  kGood,     // acknowledged, not marked; or trimmed at the last hop, where all paths meet
  kEcn,      // marked
  kTrimmed,  // in the fabric; or lost, as what came behind it shows
  kTimeout
};

}  // namespace railyard::uet
