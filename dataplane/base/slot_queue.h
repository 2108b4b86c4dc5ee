// The event queue of a device: one key per slot, the smallest at hand.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dataplane/base/assert.h"

namespace railyard {

// A sorted ring, filled from the back. Ports of one device mostly have one rate and frames one size, so that what ends
// next was begun first and a new key is the largest: then setting a key is appending it, and looking at the second
// smallest is reading the next word. In the worst case an insertion moves as many words as there are slots, which for
// the ports of a switch is still cheaper than a heap's mispredicted branches. The slot's number is in the key's low
// bits.
class SlotQueue {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // For slots 0 .. slots - 1, each in the low `slot_bits` bits of its key.
  SlotQueue(std::size_t slots, unsigned slot_bits)
      : slot_mask_((std::uint64_t{1} << slot_bits) - 1),
        mask_(static_cast<std::uint32_t>(std::bit_ceil(slots + 4) - 1)),
        ring_(std::make_unique<std::uint64_t[]>(mask_ + 1)),
        listed_(std::make_unique<bool[]>(slots)) {
    std::fill_n(ring_.get(), mask_ + 1, kNone);
    ring_[mask_] = 0;
  }

  // The smallest key, kNone if no slot has one.
  std::uint64_t min() const noexcept { return min_; }
  // What min() is after `i` calls of pop(), as far as there are so many; else kNone or 0.
  std::uint64_t ahead(std::uint32_t i) const noexcept { return ring_[(head_ + i) & mask_]; }

  void prefetch() const noexcept {
    __builtin_prefetch(&ring_[head_ & mask_], 1);
    __builtin_prefetch(listed_.get(), 1);
  }

  // Takes the smallest out. There is one.
  void pop() noexcept {
    listed_[min_ & slot_mask_] = false;
    ring_[head_ & mask_] = 0;
    min_ = ring_[++head_ & mask_];
  }

  // Gives slot `slot` a key (> 0; kNone: none) in the place of the one it has, if it has one.
  void set(std::size_t slot, std::uint64_t key) noexcept {
    if (listed_[slot]) [[unlikely]]
      remove(slot);
    if (key == kNone) return;
    RAILYARD_EXPENSIVE_ASSERT((key & slot_mask_) == slot, "a key names its slot");
    listed_[slot] = true;
    std::uint64_t* const ring = ring_.get();
    const std::uint32_t mask = mask_;
    std::uint32_t i = tail_++;
    ring[(i + 2) & mask] = kNone;
    // What has been popped left a 0 in front, which ends the search.
    for (std::uint64_t before = ring[(i - 1) & mask]; before > key; before = ring[(i - 1) & mask]) [[unlikely]]
      ring[i-- & mask] = before;
    ring[i & mask] = key;
    if (key < min_) min_ = key;
  }

 private:
  void remove(std::size_t slot) noexcept {
    std::uint32_t i = head_;
    while ((ring_[i & mask_] & slot_mask_) != slot) ++i;
    for (; i + 1 != tail_; ++i) ring_[i & mask_] = ring_[(i + 1) & mask_];
    --tail_;
    ring_[tail_ & mask_] = kNone;
    listed_[slot] = false;
    min_ = ring_[head_ & mask_];
  }

  std::uint64_t min_ = kNone;  // ring_[head_ & mask_]
  std::uint64_t slot_mask_;
  std::uint32_t mask_;
  std::uint32_t head_ = 0;  // free running; the place is & mask_
  std::uint32_t tail_ = 0;
  std::unique_ptr<std::uint64_t[]> ring_;  // 0 in front of head_; kNone at tail_ and behind it
  std::unique_ptr<bool[]> listed_;
};

}  // namespace railyard
