// When a device has lost packets for want of a way: what a failure costs, by time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/base/time.h"

namespace railyard {

// Losses that are less than kGap apart are one span. The latest kMost spans are kept.
class LossLog {
 public:
  static constexpr Duration kGap{100'000'000};
  static constexpr std::size_t kMost = 256;

  struct Span {
    Instant first;
    Instant last;
    std::uint64_t packets;
  };

  // The link was down, the table had no way or led in a circle, or the switch had crashed.
  static constexpr bool counts(DropReason reason) noexcept {
    return reason == DropReason::kLinkDown || reason == DropReason::kNoRoute || reason == DropReason::kTtlExpired ||
           reason == DropReason::kCrash;
  }

  // In any order.
  void note(Instant at) {
    // The first span that does not end before; it is the last one, mostly.
    const auto next = std::ranges::find_if(spans_, [&](const Span& s) { return s.last + kGap >= at; });
    if (next == spans_.end() || at + kGap < next->first) {
      spans_.insert(next, {at, at, 1});
      if (spans_.size() > kMost) spans_.erase(spans_.begin());
      return;
    }
    next->first = std::min(next->first, at);
    next->last = std::max(next->last, at);
    ++next->packets;
    const auto after = next + 1;
    if (after == spans_.end() || next->last + kGap < after->first) return;
    next->last = std::max(next->last, after->last);
    next->packets += after->packets;
    spans_.erase(after);
  }

  // By time.
  const std::vector<Span>& spans() const noexcept { return spans_; }

  // All of it, to or from another process.
  void exchange(StateArchive& archive) { archive(spans_); }

 private:
  std::vector<Span> spans_;
};

}  // namespace railyard
