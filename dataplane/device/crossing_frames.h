// What the devices of one worker send to those of another in one window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/device/near_frames.h"

namespace railyard {

// Written by the sending worker in a window, emptied by the receiving one when all have done their part of it. So there
// are no locked instructions, no cache line that both write to in a window, and what changes processors is read in one
// go.
class alignas(128) CrossingFrames {
 public:
  // `to`: of the receiver; `next`: its next instant, which the frame may lower.
  void push(NearFrames* to, Instant* next, const NearFrame& frame) {
    frames_.push_back({to, next, frame});  // keeps the room of earlier windows
  }
  std::size_t size() const noexcept { return frames_.size(); }

  // Hands all to their receivers, in the order of the pushes.
  void deliver() {
    constexpr std::size_t kAhead = 6;
    const auto fetch = [this](std::size_t i) {
      const Crossing& c = frames_[i];
      c.to->prefetch_end();
      const auto packet = reinterpret_cast<std::uintptr_t>(c.frame.frame.packet);
      __builtin_prefetch(c.frame.frame.packet, 1);
      __builtin_prefetch(reinterpret_cast<const void*>(packet + sizeof(Packet)), 1);
    };
    for (std::size_t i = 0; i < std::min(kAhead, frames_.size()); ++i) fetch(i);
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (i + kAhead < frames_.size()) fetch(i + kAhead);
      const Crossing& c = frames_[i];
      c.to->push(c.frame.frame, c.frame.port, c.frame.kind);
      if (c.frame.frame.effect < *c.next) *c.next = c.frame.frame.effect;
    }
    frames_.clear();
  }

 private:
  struct Crossing {
    NearFrames* to;
    Instant* next;
    NearFrame frame;
  };

  std::vector<Crossing> frames_;
};

}  // namespace railyard
