// An instant for each slot of an engine, from a cache line's beginning on.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard {

class SlotInstants {
 public:
  static constexpr std::size_t kInLine = 8;
  struct alignas(64) Line {
    std::array<Instant, kInLine> at;
  };

  // All are Instant::never(). `slots`: a multiple of kInLine.
  explicit SlotInstants(std::size_t slots = 0) : lines_(slots / kInLine) {
    for (Line& line : lines_) line.at.fill(Instant::never());
  }

  std::size_t size() const noexcept { return lines_.size() * kInLine; }
  Instant& operator[](std::size_t slot) noexcept { return lines_[slot / kInLine].at[slot % kInLine]; }
  Instant operator[](std::size_t slot) const noexcept { return lines_[slot / kInLine].at[slot % kInLine]; }
  std::span<Line> lines() noexcept { return lines_; }
  std::span<const Line> lines() const noexcept { return lines_; }

 private:
  std::vector<Line> lines_;
};

}  // namespace railyard
