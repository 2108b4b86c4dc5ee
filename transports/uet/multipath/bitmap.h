// All paths in turn, but those that did badly are left out for a while (uet §10.2).
#pragma once

#include <algorithm>
#include <array>

#include "dataplane/base/time.h"
#include "transports/uet/multipath/entropy_set.h"

namespace railyard::uet {

class BitmapPaths {
 public:
  static constexpr std::uint8_t kMostPenalty = 15;

  explicit BitmapPaths(const EntropySet& set) noexcept : set_(set) {}

  std::uint16_t next(Instant, RngStream& chance) noexcept {
    std::uint32_t index = set_.walk(chance);
    if (penalised_ == 0) return set_.value(index);
    // If all are penalised the next one is used anyway.
    const bool all = penalised_ == set_.paths();
    bool first = true;
    while (penalties_[index] > 0) {
      if (first && --penalties_[index] == 0) --penalised_;
      first = false;
      if (all) break;
      index = set_.walk(chance);
    }
    return set_.value(index);
  }

  void on_feedback(Instant, std::uint16_t value, PathFeedback feedback) noexcept {
    const std::uint32_t index = set_.index(value);
    const unsigned more = penalty(feedback);
    if (index == set_.paths() || more == 0) return;
    if (penalties_[index] == 0) ++penalised_;
    penalties_[index] = static_cast<std::uint8_t>(std::min<unsigned>(kMostPenalty, penalties_[index] + more));
  }

  const EntropySet& set() const noexcept { return set_; }
  // For tests and reports; `index` of the set.
  std::uint8_t penalty_of(std::uint32_t index) const noexcept { return penalties_[index]; }

 private:
  static constexpr unsigned penalty(PathFeedback feedback) noexcept {
    switch (feedback) {
      case PathFeedback::kGood:
        return 0;
      case PathFeedback::kEcn:
        return 1;
      case PathFeedback::kTrimmed:
        return 4;
      case PathFeedback::kTimeout:
        return kMostPenalty;
    }
    return 0;
  }

  EntropySet set_;
  std::uint32_t penalised_ = 0;
  std::array<std::uint8_t, kMostPaths> penalties_{};
};

}  // namespace railyard::uet
