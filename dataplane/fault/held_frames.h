// Frames that faults hold back, in the order in which they are due.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/packet/packet.h"

namespace railyard {

struct HeldFrame {
  Packet* packet;
  Instant due;             // when it takes effect at the latest
  Instant start;           // of its transmission
  std::uint64_t sequence;  // among the frames of its lane
  std::uint32_t behind;    // how many later frames let it go earlier; 0: none
};

// Sorted by due, then by sequence. Most come in order and leave in front, which costs a few instructions.
class HeldFrames {
 public:
  bool empty() const noexcept { return head_ == frames_.size(); }
  std::size_t size() const noexcept { return frames_.size() - head_; }
  // When the first is due; Instant::never() if there is none.
  Instant next() const noexcept { return empty() ? Instant::never() : frames_[head_].due; }

  void insert(const HeldFrame& frame) {
    const auto later = [](Instant due, const HeldFrame& f) { return due < f.due; };
    frames_.insert(std::upper_bound(begin(), frames_.end(), frame.due, later), frame);
    waits_ += frame.behind != 0;
  }
  HeldFrame pop() noexcept {
    const HeldFrame first = frames_[head_++];
    waits_ -= first.behind != 0;
    if (head_ == frames_.size()) {
      frames_.clear();
      head_ = 0;
    } else if (head_ >= kCompact && 2 * head_ >= frames_.size()) {
      frames_.erase(frames_.begin(), begin());
      head_ = 0;
    }
    return first;
  }

  // Frame number `sequence` has passed: calls `let_go(frame)` for each before it that this was the last to wait for.
  template <class LetGo>
  void passed(std::uint64_t sequence, LetGo&& let_go) {
    if (waits_ == 0) [[likely]]
      return;
    for (std::size_t i = head_; i < frames_.size();) {
      HeldFrame& f = frames_[i];
      if (f.behind == 0 || f.sequence >= sequence || --f.behind != 0) {
        ++i;
        continue;
      }
      const HeldFrame free = f;
      frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(i));
      --waits_;
      let_go(free);
    }
    if (empty()) {
      frames_.clear();
      head_ = 0;
    }
  }

  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = head_; i < frames_.size(); ++i) f(frames_[i]);
  }

 private:
  static constexpr std::size_t kCompact = 64;

  std::vector<HeldFrame>::iterator begin() noexcept { return frames_.begin() + static_cast<std::ptrdiff_t>(head_); }

  std::vector<HeldFrame> frames_;
  std::size_t head_ = 0;
  std::size_t waits_ = 0;  // frames that later ones let go
};

}  // namespace railyard
