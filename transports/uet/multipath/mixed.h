// REPS over the bitmap: the simulator's default (uet §10.2). At first all paths in turn; then those that did well
// again, one use for each acknowledgement; when there is none, as the bitmap chooses.
#pragma once

#include "dataplane/base/ring_queue.h"
#include "transports/uet/multipath/bitmap.h"

namespace railyard::uet {

class MixedPaths {
 public:
  explicit MixedPaths(const EntropySet& set) noexcept : bitmap_(set), first_pass_(set.paths()) {}

  std::uint16_t next(Instant now, RngStream& chance) noexcept {
    if (first_pass_ > 0) {
      --first_pass_;
      return bitmap_.next(now, chance);
    }
    if (good_.empty()) return bitmap_.next(now, chance);
    const std::uint16_t value = good_.front();
    good_.pop();
    return value;
  }
  // Allocates only while more are known to be good than ever before: at most as many as packets in flight.
  void on_feedback(Instant now, std::uint16_t value, PathFeedback feedback) {
    if (feedback == PathFeedback::kGood && good_.size() < kMostGood && bitmap_.set().has(value)) good_.push(value);
    bitmap_.on_feedback(now, value, feedback);
  }

 private:
  static constexpr std::size_t kMostGood = 1u << 14;  // acknowledgements that nobody asked for do not fill memory

  BitmapPaths bitmap_;
  std::uint32_t first_pass_;
  RingQueue<std::uint16_t> good_;
};

}  // namespace railyard::uet
