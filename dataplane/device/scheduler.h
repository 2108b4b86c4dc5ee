// Which queue of a port sends next: strict priority above deficit weighted round robin (IEEE 802.1Q clause 8.6.8 and
// ETS, clause 37; Shreedhar and Varghese, SIGCOMM 1995).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "dataplane/base/ids.h"

namespace railyard {

// How one class shares a port. `weight` is its share among the DWRR classes, by octets of frames with FCS.
struct ClassScheduling {
  bool strict = false;
  std::uint16_t weight = 1;  // 1..1000; of no meaning for a strict class

  bool operator==(const ClassScheduling&) const = default;
};

class Scheduler {
 public:
  Scheduler() { configure({}, 9216 + 22); }

  // Quanta are scaled so that the largest weight's is one `largest_frame` (octets): no class sends more than that in
  // its turn before the others have theirs. Nobody has anything saved after it: what a change of weights takes from a
  // class is less than a frame.
  void configure(const std::array<ClassScheduling, kPriorities>& classes, std::uint32_t largest_frame) noexcept {
    strict_ = 0;
    std::uint32_t most = 1;
    for (std::size_t p = 0; p < kPriorities; ++p) {
      if (classes[p].strict)
        strict_ = static_cast<PriorityMask>(strict_ | (1u << p));
      else if (classes[p].weight > most)
        most = classes[p].weight;
    }
    for (std::size_t p = 0; p < kPriorities; ++p) {
      const std::uint64_t quantum = std::uint64_t{classes[p].weight} * largest_frame / most;
      deficit_[p] = 0;
      quantum_[p] = quantum > 0 ? static_cast<std::int32_t>(quantum) : 1;
    }
    turn_ = 0;
    saved_ = 0;
  }

  // The queue to send from. `nonempty`: the queues that have a frame; `eligible` (not 0): those of them that are not
  // paused; `head(p)`: octets of queue p's first frame.
  template <class Head>
  Priority pick(PriorityMask eligible, PriorityMask nonempty, Head&& head) noexcept {
    // An empty queue loses what it has saved: looked at when somebody may send, so that a queue that was empty between
    // two transmissions only (a NIC takes the next frames from its endpoint then) has not been empty.
    for (unsigned gone = saved_ & ~unsigned{nonempty}; gone != 0; gone &= gone - 1)
      deficit_[static_cast<std::size_t>(std::countr_zero(gone))] = 0;
    saved_ &= nonempty;
    const unsigned strict = eligible & strict_;
    if (strict != 0) return Priority{static_cast<std::uint8_t>(std::bit_width(strict) - 1)};
    // A queue that is alone spends nothing: there is nobody to share with.
    if (std::has_single_bit(eligible)) return Priority{static_cast<std::uint8_t>(std::countr_zero(eligible))};
    for (unsigned visited = 0;;) {
      if ((unsigned{eligible} >> turn_ & 1u) != 0) {
        const auto octets = static_cast<std::int32_t>(head(Priority{turn_}));
        if (deficit_[turn_] >= octets) {
          deficit_[turn_] -= octets;
          return Priority{turn_};
        }
      }
      // The next eligible queue in cyclic order has its turn; a paused one is passed over and keeps its deficit.
      const unsigned after = (eligible | (unsigned{eligible} << 8)) >> (turn_ + 1);
      turn_ = static_cast<std::uint8_t>((turn_ + 1 + std::countr_zero(after)) & 7);
      if ((visited >> turn_ & 1u) != 0) {
        skip_rounds(eligible, head);
        visited = 0;
      }
      visited |= 1u << turn_;
      deficit_[turn_] += quantum_[turn_];
      saved_ = static_cast<PriorityMask>(saved_ | (1u << turn_));
    }
  }

 private:
  // A whole round has brought no queue far enough: as many more as cannot either are gone through at once.
  template <class Head>
  void skip_rounds(PriorityMask eligible, Head& head) noexcept {
    std::int32_t needed = std::numeric_limits<std::int32_t>::max();
    for (unsigned m = eligible; m != 0; m &= m - 1) {
      const auto p = static_cast<std::uint8_t>(std::countr_zero(m));
      const std::int32_t lacking = static_cast<std::int32_t>(head(Priority{p})) - deficit_[p];
      needed = std::min(needed, (lacking + quantum_[p] - 1) / quantum_[p]);
    }
    for (unsigned m = eligible; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      deficit_[p] += quantum_[p] * (needed - 1);
    }
  }

  std::array<std::int32_t, kPriorities> deficit_{};
  std::array<std::int32_t, kPriorities> quantum_{};
  PriorityMask strict_ = 0;
  PriorityMask saved_ = 0;  // queues that may have a deficit
  std::uint8_t turn_ = 0;
};

}  // namespace railyard
