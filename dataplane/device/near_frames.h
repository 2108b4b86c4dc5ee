// What is on its way to a device from devices that the same worker advances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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
// what is due in this window, what stays is mostly due in the next: links on which frames stay for longer keep their
// rings.
class NearFrames {
 public:
  void push(const InFlight& frame, PortIndex port, EventKind kind) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    // Nobody has touched the packet for as long as it was queued, and the receiver will, not before the next window.
    const auto at = reinterpret_cast<std::uintptr_t>(frame.packet);
    __builtin_prefetch(frame.packet, 1);
    __builtin_prefetch(reinterpret_cast<const void*>(at + sizeof(Packet)), 1);
    NearFrame& n = frames_[size_++];
    n.frame = frame;
    n.port = port;
    n.kind = kind;
  }
  std::size_t size() const noexcept { return size_; }
  // Those of one port and kind.
  std::size_t count(PortIndex port, EventKind kind) const noexcept {
    return static_cast<std::size_t>(std::count_if(
        frames_.get(), frames_.get() + size_, [=](const NearFrame& f) { return f.port == port && f.kind == kind; }));
  }
  template <class F>
  void for_each(F&& f) const {
    std::for_each_n(frames_.get(), size_, f);
  }
  void prefetch() const noexcept {
    for (std::uint32_t i = 0; i < std::min(size_, kMostAhead); i += 2) __builtin_prefetch(&frames_[i], 1);
  }
  // Where the next is pushed.
  void prefetch_end() const noexcept { __builtin_prefetch(frames_.get() + size_, 1); }
  // The first packets, metadata and headers. After prefetch().
  void prefetch_packets() const noexcept {
    for (const NearFrame& n : first()) {
      const auto* const at = reinterpret_cast<const std::byte*>(n.frame.packet);
      __builtin_prefetch(at, 1);
      __builtin_prefetch(at + sizeof(Packet), 1);
    }
  }
  // The first ones. After prefetch().
  std::span<const NearFrame> first() const noexcept { return {frames_.get(), std::min(size_, kMostAhead)}; }

  // Takes what takes effect before `until`, in order of the pushes, and hands it to `take`. Returns the earliest effect
  // that remains.
  template <class Take>
  Instant take_until(Instant until, Take&& take) {
    Instant rest = Instant::never();
    NearFrame* stays = frames_.get();
    NearFrame* const end = stays + size_;
    for (NearFrame* n = stays; n != end; ++n) {
      if (n->frame.effect < until) {
        take(*n);
      } else {
        rest = std::min(rest, n->frame.effect);
        *stays++ = *n;
      }
    }
    size_ = static_cast<std::uint32_t>(stays - frames_.get());
    return rest;
  }

 private:
  static constexpr std::uint32_t kMostAhead = 8;

  [[gnu::noinline]] void grow() {
    const std::uint32_t capacity = std::max(8u, capacity_ * 2);
    auto frames = std::make_unique_for_overwrite<NearFrame[]>(capacity);
    std::copy_n(frames_.get(), size_, frames.get());
    frames_ = std::move(frames);
    capacity_ = capacity;
  }

  std::unique_ptr<NearFrame[]> frames_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace railyard
