// REPS, "recycled entropies": a path that did well is used again (uet §10.2).
#pragma once

#include <array>

#include "dataplane/base/time.h"
#include "transports/uet/multipath/entropy_set.h"

namespace railyard::uet {

struct RepsConfig {
  // After a timeout, when switches trim and so only a failure can be its reason: only paths that are known to work are
  // used, this long; then some are probed at random. 0: never.
  Duration freeze{10'000'000'000};
  std::uint32_t probes = 16;

  bool operator==(const RepsConfig&) const = default;
};

class RepsPaths {
 public:
  static constexpr std::uint32_t kRing = 8;

  RepsPaths(const EntropySet& set, const RepsConfig& config) noexcept : set_(set), config_(config) {}

  std::uint16_t next(Instant now, RngStream& chance) noexcept {
    if (frozen(now)) {
      if (known_ > 0) return ring_[reused_++ % known_];
      return drawn(chance);
    }
    if (thaw_ != Instant::never()) {
      thaw_ = Instant::never();
      known_ = written_ = unused_ = 0;
      probes_ = config_.probes;
    }
    if (probes_ > 0) {
      --probes_;
      return drawn(chance);
    }
    if (unused_ == 0) return drawn(chance);
    return ring_[(written_ - unused_--) % kRing];
  }

  void on_feedback(Instant now, std::uint16_t value, PathFeedback feedback) noexcept {
    if (feedback == PathFeedback::kTimeout && config_.freeze > Duration{} && thaw_ == Instant::never()) {
      thaw_ = now + config_.freeze;
      reused_ = 0;
    }
    if (feedback != PathFeedback::kGood || frozen(now) || !set_.has(value)) return;
    ring_[written_++ % kRing] = value;
    if (known_ < kRing) ++known_;
    if (unused_ < kRing) ++unused_;
  }

  bool frozen(Instant now) const noexcept { return thaw_ != Instant::never() && now < thaw_; }

 private:
  std::uint16_t drawn(RngStream& chance) const noexcept { return set_.value(set_.drawn(chance)); }

  EntropySet set_;
  RepsConfig config_;
  std::array<std::uint16_t, kRing> ring_{};
  std::uint32_t written_ = 0;  // free running
  std::uint32_t unused_ = 0;   // the last so many of the ring were not used yet
  std::uint32_t known_ = 0;    // so many of the ring hold a value
  std::uint32_t reused_ = 0;
  std::uint32_t probes_ = 0;
  Instant thaw_ = Instant::never();
};

}  // namespace railyard::uet
