// Rings of frames in one direction, one per traffic class, so that frames of a class that is held back do not hold back
// those of another. They lie one behind the other in shared memory. One producer and one consumer serve all of them;
// the consumer sleeps until there is a frame in any.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "dataplane/base/frame_ring.h"
#include "dataplane/base/ids.h"

namespace railyard {

template <class End>
class ClassRings {
 public:
  // `memory`: kPriorities * each.octets(), aligned to 64, all zero at first. It outlives this. `each` is valid.
  ClassRings(std::byte* memory, FrameRingGeometry each) noexcept
      : ClassRings(memory, each, std::make_index_sequence<kPriorities>()) {}

  End& of(Priority priority) noexcept { return rings_[priority.index()]; }
  // The other side wrote into one of them what cannot be.
  bool broken() const noexcept {
    return std::ranges::any_of(rings_, [](const End& ring) { return ring.broken(); });
  }

 protected:
  template <std::size_t... kClass>
  ClassRings(std::byte* memory, FrameRingGeometry each, std::index_sequence<kClass...>) noexcept
      : rings_{End(memory + kClass * each.octets(), each,
                   reinterpret_cast<FrameRingHeader*>(memory)->consumer_sleeps)...} {}

  std::array<End, kPriorities> rings_;
};

class ClassRingsProducer : public ClassRings<FrameRingProducer> {
 public:
  using ClassRings::ClassRings;

  // Asks to be woken when one of these classes has room. False: one has room already (or is broken).
  bool sleep_until_room(PriorityMask classes) noexcept {
    bool all_full = true;
    for (std::uint8_t c = 0; c < kPriorities; ++c)
      if ((classes & bit(Priority{c})) != 0) all_full &= rings_[c].sleep_until_room();
    return all_full;
  }
};

class ClassRingsConsumer : public ClassRings<FrameRingConsumer> {
 public:
  using ClassRings::ClassRings;

  // Whether one of these classes has a frame.
  bool any(PriorityMask classes) noexcept {
    for (std::uint8_t c = 0; c < kPriorities; ++c)
      if ((classes & bit(Priority{c})) != 0 && rings_[c].any()) return true;
    return false;
  }
  // How many frames there are in all of them.
  std::uint64_t count() noexcept {
    std::uint64_t n = 0;
    for (FrameRingConsumer& ring : rings_) n += ring.count();
    return n;
  }
  // Asks to be woken when there is a frame of any class. False: one of these classes has a frame already (or is
  // broken).
  bool sleep_until_frame(PriorityMask classes) noexcept {
    rings_.front().ask_for_signal();
    if (!any(classes) && !broken()) return true;
    wake();
    return false;
  }
  // It does not sleep any more; needs no signal.
  void wake() noexcept { rings_.front().wake(); }
  // Whether sleep_until_frame() still holds: nobody has signalled.
  bool sleeps() const noexcept { return rings_.front().sleeps(); }
};

}  // namespace railyard
