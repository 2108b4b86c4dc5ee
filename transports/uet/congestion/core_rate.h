// How much of its link a receiver grants where the fabric in front of it is oversubscribed: credit keeps the last hop free, and
// knows nothing of other queues (uet §9.7, of uet-htsim; optional). Once per 1.5 round trips or so, by what has arrived:
//
//   packets that others than the last hop trimmed -> less by their share
//   marked packets, on average more than 0.3      -> less by half of what is above
//   neither                                       -> more by 0.01, and twice as much each time while nothing is marked
//
// As in the simulator, never less than 0.9 of what is everybody's share of the fabric, and receivers look at random times
// (0.75 to 1.25 of that interval), so that they do not all react together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"

namespace railyard::uet {

class CoreRate {
 public:
  // `base_rtt`: above 0; `oversubscription`: 1 or more.
  CoreRate(Duration base_rtt, double oversubscription, RngStream chance) noexcept
      : interval_(base_rtt * 3 / 2), least_(std::max(0.9 / oversubscription, 0.01)), chance_(chance) {}

  // A data packet has come, at `now`: whole and marked or not, or trimmed.
  void on_packet(Instant now, bool marked, bool trimmed, bool last_hop) noexcept {
    if (next_ == Instant{}) next_ = now + wait();
    while (now >= next_) step(now);
    ++packets_;
    trimmed_ += trimmed ? 1u : 0u;
    trimmed_before_ += trimmed && !last_hop ? 1u : 0u;
    marked_ += marked && !trimmed ? 1u : 0u;
  }
  // Of the link's rate, 0.01..1.
  double share() const noexcept { return share_; }

 private:
  static constexpr double kMostMarked = 0.3;
  static constexpr double kWeight = 0.5;
  static constexpr double kDecrease = 0.5;
  static constexpr double kIncrease = 0.01;
  static constexpr unsigned kMostDoublings = 7;  // beyond that it is 1 in any case

  Duration wait() noexcept {
    constexpr std::int64_t kParts = 1024;
    return interval_ * (kParts * 3 / 4 + static_cast<std::int64_t>(chance_.below(kParts / 2))) / kParts;
  }
  void step(Instant now) noexcept {
    // Of a silence only the last round trips count.
    next_ = std::max(next_, now - interval_ * static_cast<std::int64_t>(kMostDoublings)) + wait();
    const std::uint32_t whole = packets_ - trimmed_;
    const double fraction = whole > 0 ? static_cast<double>(marked_) / whole : 0;
    average_ += kWeight * (fraction - average_);
    bool decreased = trimmed_before_ > 0;
    if (decreased) share_ -= static_cast<double>(trimmed_before_) / packets_;
    if (average_ > kMostMarked) {
      share_ *= 1 - (average_ - kMostMarked) * kDecrease;
      decreased = true;
    }
    if (decreased) {
      increases_ = 0;
    } else {
      share_ += marked_ > 0 ? kIncrease : kIncrease * static_cast<double>(1u << std::min(increases_, kMostDoublings));
      ++increases_;
    }
    share_ = std::clamp(share_, least_, 1.0);
    packets_ = trimmed_ = trimmed_before_ = marked_ = 0;
  }

  Duration interval_;
  double least_;
  double share_ = 1;
  double average_ = 0;
  Instant next_{};  // 0: nothing has come yet
  std::uint32_t packets_ = 0;
  std::uint32_t trimmed_ = 0;
  std::uint32_t trimmed_before_ = 0;  // by others than the last hop
  std::uint32_t marked_ = 0;
  unsigned increases_ = 0;
  RngStream chance_;
};

}  // namespace railyard::uet
