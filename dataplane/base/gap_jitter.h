// What paces frames is no metronome: each waits for a drawn part of its gap beyond its time, which adds nothing to the
// times of later ones, so the rate is kept.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/base/hash.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// Of one flow. Where it fills more than half of its link, some frames after each other wait equally long: with a draw
// for each, the frames behind a late one would follow it back to back, and all of them would be late by much the same.
class GapJitter {
 public:
  static constexpr std::uint64_t kWhole = std::uint64_t{1} << 32;

  GapJitter() noexcept = default;  // none
  // Frames wait for up to `share` (a fraction of 2^32, at most kWhole) of their gaps.
  GapJitter(std::uint64_t share, RngStream chance) noexcept : share_(share), chance_(chance) {}

  bool on() const noexcept { return share_ > 0; }

  // The flow keeps to `rate` (> 0) from now on, at a port of `link`; 0: its frames take no time there. Frames that take t
  // of the link, one each interval T, catch up by T - t per frame, so by a share j of a frame's time in j t / (T - t)
  // frames: so long do they wait equally. A flow that is as fast as its link has no gaps.
  void keep_to(BitRate rate, BitRate link) noexcept {
    redraws_ = kWhole;
    if (share_ == 0 || link.bps == 0) return;
    const UInt128 free = link > rate ? static_cast<UInt128>(link.bps - rate.bps) : 0;
    const UInt128 redraws = (((free << 32) / static_cast<std::uint64_t>(rate.bps)) << 32) / share_;
    redraws_ = static_cast<std::uint64_t>(std::min<UInt128>(redraws, kWhole));
  }

  // How much later than due the next frame goes; one is due each `interval`.
  Duration draw(Duration interval) noexcept {
    if (share_ > 0 && (redraws_ == kWhole || chance_.next32() < redraws_)) {
      const UInt128 most = static_cast<UInt128>(interval.ps) * share_;
      last_ = Duration{static_cast<std::int64_t>(((most >> 32) * chance_.next32()) >> 32)};
    }
    return last_;
  }
  // The next frame is not late.
  void forget() noexcept { last_ = {}; }
  Duration last() const noexcept { return last_; }

  // When the next frame may go, if one that could go from `allowed` on goes `now` and takes `interval` at its rate. What
  // it is late by is made up for, up to one interval, or its jitter if it is shorter than the one before.
  Instant next(Instant now, Instant allowed, Duration interval) noexcept {
    const Instant due = std::max(allowed - last_, now - std::max(interval, last_)) + interval;
    return due + draw(interval);
  }

 private:
  std::uint64_t share_ = 0;
  std::uint64_t redraws_ = kWhole;
  Duration last_{};
  RngStream chance_;
};

// Of the flows of one NIC that keep to rates.
struct PacingConfig {
  std::uint32_t slower_ppb = 0;  // its clock, in billionths: gaps are so much longer
  std::uint64_t jitter = 0;      // of each flow, as of GapJitter
  BitRate link{};
  Seed seed{};

  // Of its `number`-th flow, which keeps to `rate` (0: to none).
  GapJitter jitter_of(std::uint64_t number, BitRate rate) const noexcept {
    if (jitter == 0 || rate.bps == 0) return {};
    GapJitter gaps(jitter, RngStream(Seed{mix64(seed.value + number)}, "gaps"));
    gaps.keep_to(rate, link);
    return gaps;
  }
  Duration slowed(Duration gap) const noexcept {
    return {gap.ps + static_cast<std::int64_t>(static_cast<Int128>(gap.ps) * slower_ppb / 1'000'000'000)};
  }
};

}  // namespace railyard
