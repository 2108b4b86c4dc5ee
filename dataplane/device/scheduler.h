// Which queue of a port sends next: strict priority above deficit weighted round robin (IEEE 802.1Q clause 8.6.8 and ETS,
// clause 37; Shreedhar and Varghese, SIGCOMM 1995).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/base/ids.h"

namespace railyard {

// How one class shares a port. `weight` is its share among the DWRR classes, by octets of frames with FCS.
struct ClassScheduling {
  bool strict = false;
  std::uint16_t weight = 1;  // 1..1000; of no meaning for a strict class
};

class Scheduler {
 public:
  Scheduler() { configure({}, 9216 + 22); }

  // Quanta are scaled so that the smallest weight's is one `largest_frame` (octets): a turn then always sends something.
  void configure(const std::array<ClassScheduling, kPriorities>& classes, std::uint32_t largest_frame) noexcept {
    strict_ = 0;
    std::uint32_t least = ~0u;
    for (std::size_t p = 0; p < kPriorities; ++p) {
      if (classes[p].strict)
        strict_ = static_cast<PriorityMask>(strict_ | (1u << p));
      else if (classes[p].weight < least)
        least = classes[p].weight;
    }
    for (std::size_t p = 0; p < kPriorities; ++p) {
      deficit_[p] = 0;
      quantum_[p] = classes[p].strict ? 0
                                      : static_cast<std::int32_t>(
                                            (std::uint64_t{classes[p].weight} * largest_frame + least - 1) / least);
    }
    turn_ = 0;
  }

  // The queue to send from. `eligible` (not 0): has a frame and is not paused; `head(p)`: octets of queue p's first frame.
  template <class Head>
  Priority pick(PriorityMask eligible, Head&& head) noexcept {
    const unsigned strict = eligible & strict_;
    if (strict != 0) return Priority{static_cast<std::uint8_t>(std::bit_width(strict) - 1)};
    // A queue that is alone spends nothing: there is nobody to share with.
    if (std::has_single_bit(eligible)) return Priority{static_cast<std::uint8_t>(std::countr_zero(eligible))};
    for (;;) {
      if ((eligible >> turn_ & 1u) != 0) {
        const auto octets = static_cast<std::int32_t>(head(Priority{turn_}));
        if (deficit_[turn_] >= octets) {
          deficit_[turn_] -= octets;
          return Priority{turn_};
        }
      }
      // The next eligible queue in cyclic order has its turn; a paused one is passed over and keeps its deficit.
      const unsigned after = (eligible | (unsigned{eligible} << 8)) >> (turn_ + 1);
      turn_ = static_cast<std::uint8_t>((turn_ + 1 + std::countr_zero(after)) & 7);
      deficit_[turn_] += quantum_[turn_];
    }
  }

  // An empty queue loses what it has saved.
  void emptied(Priority p) noexcept { deficit_[p.index()] = 0; }

 private:
  std::array<std::int32_t, kPriorities> deficit_{};
  std::array<std::int32_t, kPriorities> quantum_{};
  PriorityMask strict_ = 0;
  std::uint8_t turn_ = 0;
};

}  // namespace railyard
