// Drops by reason, counted by one device and read by anyone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/counter.h"
#include "dataplane/base/drop_reason.h"
#include "dataplane/device/counters.h"

namespace railyard {

class DropCounters {
 public:
  void count(DropReason reason) noexcept { counters_[static_cast<std::size_t>(reason)].increment(); }
  void count(DropReason reason, std::uint64_t n) noexcept { counters_[static_cast<std::size_t>(reason)].add(n); }
  DropCounts read() const noexcept {
    DropCounts out{};
    for (std::size_t r = 0; r < kDropReasons; ++r) out[r] = counters_[r].read();
    return out;
  }

  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const Counter& c : counters_) sum += c.read();
    return sum;
  }

 private:
  std::array<Counter, kDropReasons> counters_;
};

}  // namespace railyard
