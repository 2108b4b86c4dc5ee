// Frames from the far end of a trunk until their instant comes: in order of their numbers, what never came counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// Frames are released in order. One that is missing is waited for until the next one is due, and a little longer if
// that is due at once; then it is lost.
class Resequencer {
 public:
  struct Held {
    Packet* packet = nullptr;
    Instant start{};    // of its transmission at the far end, by our clock
    Instant due{};      // it may be released then, if none before it is missing
    Instant give_up{};  // ... or then, if one is
  };

  // `window`: numbers that can be held at once, a power of two.
  explicit Resequencer(std::uint32_t window) : slots_(window) {}

  // Everything below this is released or lost.
  std::uint64_t base() const noexcept { return base_; }
  std::uint64_t held() const noexcept { return held_; }

  // False: `number` has been released, is lost, is held already, or is too far ahead (then it will be found missing);
  // the packet stays the caller's.
  enum class Put : std::uint8_t { kHeld, kOld, kTooFar };
  Put put(std::uint64_t number, const Held& frame) noexcept {
    if (number < base_) return Put::kOld;
    // After an outage nothing is held, and so much may be missing that it does not fit.
    if (number - base_ >= slots_.size()) {
      if (held_ > 0) return Put::kTooFar;
      lose_up_to(number);
    }
    Held& slot = at(number);
    if (slot.packet != nullptr) return Put::kOld;
    slot = frame;
    ++held_;
    if (held_ == 1 || number < first_) first_ = number;
    return Put::kHeld;
  }

  // The far end has given out all numbers below `number` by now; those that have not come by `give_up` are lost. For
  // the last frames before a silence, which no later one shows to be missing.
  void expect(std::uint64_t number, Instant give_up) noexcept {
    if (number <= base_ || number <= expected_) return;
    // One deadline at a time: an earlier one is not put off.
    if (expected_ > base_) return;
    expected_ = number;
    expected_by_ = give_up;
  }

  // When something is to be done: release(), or write off what is missing.
  Instant next() const noexcept {
    if (held_ > 0) return first_ == base_ ? at(first_).due : std::max(at(first_).due, at(first_).give_up);
    return expected_ > base_ ? expected_by_ : Instant::never();
  }

  // The frame that next() is about; nullptr: it is about a loss.
  const Held* head() const noexcept { return held_ > 0 ? &at(first_) : nullptr; }

  // At next(): the frame that is due, without a packet if there is none but only a loss to be counted.
  Held release() noexcept {
    if (held_ == 0) {
      lose_up_to(expected_);
      return {};
    }
    lose_up_to(first_);
    Held& slot = at(base_);
    const Held frame = slot;
    slot.packet = nullptr;
    ++base_;
    if (--held_ > 0)
      for (first_ = base_; at(first_).packet == nullptr;) ++first_;
    return frame;
  }

  // What is held, in any order, and what has been lost since the last call.
  template <class F>
  void for_each(F&& f) const {
    for (const Held& h : slots_)
      if (h.packet != nullptr) f(*h.packet);
  }
  std::uint64_t take_lost() noexcept {
    const std::uint64_t lost = lost_;
    lost_ = 0;
    return lost;
  }

  // Another life of the far end, whose next number is `base`. What is held goes to `drop`.
  template <class F>
  void reset(std::uint64_t base, F&& drop) {
    if (held_ > 0)
      for (Held& h : slots_)
        if (h.packet != nullptr) {
          drop(h.packet);
          h.packet = nullptr;
        }
    held_ = 0;
    base_ = base;
    expected_ = 0;
  }

 private:
  Held& at(std::uint64_t number) noexcept { return slots_[number & (slots_.size() - 1)]; }
  const Held& at(std::uint64_t number) const noexcept { return slots_[number & (slots_.size() - 1)]; }
  // All below `number` that are not here. None of them is held.
  void lose_up_to(std::uint64_t number) noexcept {
    lost_ += number - base_;
    base_ = number;
  }

  std::vector<Held> slots_;
  std::uint64_t base_ = 0;
  std::uint64_t first_ = 0;  // the lowest that is held
  std::uint64_t held_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t expected_ = 0;
  Instant expected_by_ = Instant::never();
};

}  // namespace railyard
