// Per-packet load balancing: each packet takes the next path of its group in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/rng.h"

namespace railyard {

// The turns of all groups, from a random start each, so that switches do not march in step.
class Spray {
 public:
  Spray() = default;
  explicit Spray(RngStream rng) noexcept : rng_(rng) {}

  // Whose turn it is among `n` (> 0) equal paths; `group` names the group in this switch. Then it is the next one's.
  std::uint32_t choose(std::uint32_t group, std::uint32_t n) {
    std::uint32_t& next = turn(group, n);
    return next++;
  }
  // The same without taking it, and taking that of another member, after which it is its neighbour's.
  std::uint32_t whose_turn(std::uint32_t group, std::uint32_t n) { return turn(group, n); }
  void took(std::uint32_t group, std::uint32_t member) noexcept { next_[group] = member + 1; }

 private:
  static constexpr std::uint32_t kUnused = ~std::uint32_t{0};

  std::uint32_t& turn(std::uint32_t group, std::uint32_t n) {
    if (group >= next_.size()) [[unlikely]]
      next_.resize(group + 1, kUnused);
    std::uint32_t& next = next_[group];
    if (next >= n) next = next == kUnused ? static_cast<std::uint32_t>(rng_.below(n)) : 0;
    return next;
  }

  RngStream rng_;
  std::vector<std::uint32_t> next_;
};

}  // namespace railyard
