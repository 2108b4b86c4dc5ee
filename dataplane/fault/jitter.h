// Delays that vary and still keep frames in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"

namespace railyard {

// A delay between 0 and `spread` that each frame draws for itself, evenly.
inline Duration drawn_evenly(Duration spread, RngStream& rng) noexcept {
  if (spread <= Duration{}) return {};
  return Duration{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(spread.ps) + 1))};
}

// The same for frames that stay in order, at any rate of frames. Frames that wait for a slower one before them would be
// late on average, the more so the closer they come. So the delay walks instead: from one frame to the next it changes
// by a step drawn evenly from +-gap (at most +-spread), reflected at 0 and at `spread`. It never falls by more than the
// gap, so no frame overtakes; and the uniform distribution is stationary under such steps, so mean, median and range
// are those of drawn_evenly(). Frames that are `spread` or further apart draw independently of each other.
class JitterWalk {
 public:
  // Of a frame that would arrive at `at` without this delay; instants do not go back.
  Duration next(Instant at, Duration spread, RngStream& rng) noexcept {
    if (spread <= Duration{}) return {};
    const std::int64_t top = spread.ps;
    if (!last_) {
      offset_ = drawn_evenly(spread, rng).ps;
    } else {
      const std::int64_t most = std::clamp<std::int64_t>((at - *last_).ps, 0, top);
      offset_ += static_cast<std::int64_t>(rng.below(2 * static_cast<std::uint64_t>(most) + 1)) - most;
      if (offset_ < 0) offset_ = -1 - offset_;
      if (offset_ > top) offset_ = 2 * top + 1 - offset_;
    }
    last_ = at;
    return Duration{offset_};
  }

 private:
  std::optional<Instant> last_;
  std::int64_t offset_ = 0;
};

}  // namespace railyard
