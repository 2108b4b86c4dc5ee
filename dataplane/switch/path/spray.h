// Per-packet load balancing: each packet takes the next path of its group in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/rng.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// Round robin over all packets of a group (and class), from a random start, so that switches do not march in step.
class Spray {
 public:
  Spray() = default;
  explicit Spray(RngStream rng) noexcept : rng_(rng) {}

  // Which of `n` (> 0) equal paths this packet takes; `group` names the group in this switch.
  std::uint32_t choose(std::uint32_t group, std::uint32_t n) {
    if (group >= next_.size()) [[unlikely]]
      next_.resize(group + 1, kUnused);
    std::uint32_t& next = next_[group];
    if (next >= n) next = next == kUnused ? static_cast<std::uint32_t>(rng_.below(n)) : 0;
    return next++;
  }

 private:
  static constexpr std::uint32_t kUnused = ~std::uint32_t{0};
  RngStream rng_;
  std::vector<std::uint32_t> next_;
};

}  // namespace railyard
