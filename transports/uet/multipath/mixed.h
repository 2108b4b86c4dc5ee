// REPS over the bitmap: the simulator's default (uet §10.2). Paths that did well are used again, once for each
// acknowledgement; when there is none of them, as the bitmap chooses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/ring_queue.h"
#include "transports/uet/multipath/bitmap.h"

namespace railyard::uet {

class MixedPaths {
 public:
  // The simulator's has no bound; here acknowledgements that nobody asked for do not fill memory.
  static constexpr std::uint32_t kMostRecycled = 1u << 14;

  // `recycled`: so many paths that did well are remembered, 1..kMostRecycled; beyond that the oldest are forgotten.
  explicit MixedPaths(const EntropySet& set, std::uint32_t recycled = kMostRecycled) noexcept
      : bitmap_(set), most_good_(recycled) {}

  std::uint16_t next(Instant now, RngStream& chance) noexcept {
    if (good_.empty()) return bitmap_.next(now, chance);
    const std::uint16_t value = good_.front();
    good_.pop();
    return value;
  }
  // Allocates only while more are known to be good than ever before: at most as many as packets in flight.
  void on_feedback(Instant now, std::uint16_t value, PathFeedback feedback) {
    if (feedback == PathFeedback::kGood && bitmap_.set().has(value)) {
      if (good_.size() >= most_good_) good_.pop();
      good_.push(value);
    }
    bitmap_.on_feedback(now, value, feedback);
  }

 private:
  BitmapPaths bitmap_;
  std::uint32_t most_good_;
  RingQueue<std::uint16_t> good_;
};

}  // namespace railyard::uet
