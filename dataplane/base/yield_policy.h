// When a thread with nothing to do sleeps for a moment instead of yielding its processor.
#pragma once

#include <algorithm>

#include "dataplane/base/time.h"

namespace railyard {

// Beside threads that compute, Linux (seen with 6.18) sets back who calls sched_yield(2) again and again: by whole slices, in
// sum by 0.3 s. Who sleeps is not set back, but a sleep takes longer than a yield that finds nobody. So yields are timed,
// and one that took long is followed by sleeps for a thousand times as long as it took.
class YieldPolicy {
 public:
  // Whether to sleep, at `now` by any clock that does not go back.
  bool sleeps(Duration now) const noexcept { return now < until_; }
  // A yield has returned.
  void yielded(Duration began, Duration ended) noexcept {
    const Duration took = ended - began;
    if (took > kSetBack) until_ = ended + std::clamp(took * 1000, kLeast, kMost);
  }

 private:
  static constexpr Duration kSetBack{500'000'000};  // 0.5 ms
  static constexpr Duration kLeast{1'000'000'000'000}, kMost{60'000'000'000'000};  // 1 s, 60 s
  Duration until_{};
};

}  // namespace railyard
