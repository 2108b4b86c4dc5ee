// What is on its way to a device from devices that the same worker advances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/device/event_key.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// A frame on its way. `effect` is the earliest instant at which it can change anything in the receiver.
struct InFlight {
  Instant effect;
  Instant start;  // of its transmission
  Packet* packet;
};

struct NearFrame {
  InFlight frame;
  PortIndex port;  // where it comes in
  EventKind kind;  // kArrival or kMacControl
};

// One list for all ports of a device, in the order of the pushes. Where no other thread takes part, that spares a ring
// and a doorbell for each port, most of whose cache lines a device would touch for a single frame. What is taken is
// what is due in this window, what stays is mostly due in the next: links on which frames stay for longer keep their rings.
class NearFrames {
 public:
  void push(const NearFrame& frame) { frames_.push_back(frame); }
  std::size_t size() const noexcept { return frames_.size(); }
  // Those of one port and kind.
  std::size_t count(PortIndex port, EventKind kind) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        frames_, [=](const NearFrame& f) { return f.port == port && f.kind == kind; }));
  }
  template <class F>
  void for_each(F&& f) const {
    for (const NearFrame& n : frames_) f(n);
  }

  // Takes what takes effect before `until`, in order of the pushes, and hands it to `take`. Returns the earliest effect
  // that remains.
  template <class Take>
  Instant take_until(Instant until, Take&& take) {
    Instant rest = Instant::never();
    NearFrame* stays = frames_.data();
    NearFrame* const end = stays + frames_.size();
    for (NearFrame* n = stays; n != end; ++n) {
      if (n->frame.effect < until) {
        take(*n);
      } else {
        rest = std::min(rest, n->frame.effect);
        *stays++ = *n;
      }
    }
    frames_.resize(static_cast<std::size_t>(stays - frames_.data()));
    return rest;
  }

 private:
  std::vector<NearFrame> frames_;
};

}  // namespace railyard
