// What can go wrong on one direction of a link: a stage of the receiver, between the channel and everything else. A
// port without faults has none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/time.h"
#include "dataplane/fault/frame_fault.h"
#include "dataplane/fault/held_frames.h"
#include "dataplane/packet/pool.h"

namespace railyard {

// Frames pass in the order of the channel, each with the instants it brought, so that it does not show in which
// portions time passes. A frame that is held is still on its way: lost with the link, counted with the wire. No frame
// comes earlier than it would have without faults.
class LinkFaults {
 public:
  // Faults act in the order in which they were added. Only while the engine rests.
  void add(std::shared_ptr<FrameFault> fault) { faults_.push_back(std::move(fault)); }
  // Whether all faults have ended before `now`, and when the last of those that have an end did or will.
  bool all_ended(Instant now) const noexcept;
  Instant last_end() const noexcept;

  // A frame of `lane` takes effect at `effect`; its transmission began at `start`, and it arrived at `arrival`. What
  // comes of this is handed over in order of effect: `deliver(Packet*, Instant effect, Instant start)`. What was due
  // before goes first.
  template <class Deliver>
  void pass(Lane lane, Packet* packet, Instant effect, Instant start, Instant arrival, PacketPool& pool,
            Deliver&& deliver) {
    Frames& frames = lanes_[static_cast<std::size_t>(lane)];
    release_through(frames, effect, deliver);
    const FrameFate fate = decide(lane, packet, effect, arrival, pool);
    if (fate.lost) return;
    for (Packet* p : {packet, fate.copy}) {
      if (p == nullptr) continue;
      const std::uint64_t sequence = frames.passed++;
      if (fate.due > effect) {
        frames.held.insert({p, fate.due, start, sequence, fate.behind});
      } else {
        deliver(p, effect, start);
        let_go(frames, sequence, effect, deliver);
      }
    }
  }
  // Hands over what is due before `until`.
  template <class Deliver>
  void release(Lane lane, Instant until, Deliver&& deliver) {
    Frames& frames = lanes_[static_cast<std::size_t>(lane)];
    while (frames.held.next() < until) release_first(frames, deliver);
  }
  // When the first held frame of `lane` is due; Instant::never() if there is none.
  Instant next(Lane lane) const noexcept { return lanes_[static_cast<std::size_t>(lane)].held.next(); }

  std::size_t held() const noexcept { return lanes_[0].held.size() + lanes_[1].held.size(); }
  template <class F>
  void for_each_held(F&& see) const {
    for (const Frames& frames : lanes_) frames.held.for_each([&](const HeldFrame& f) { see(*f.packet); });
  }

  // Frames that have not arrived because of a fault, and those that have arrived once too often.
  std::uint64_t lost() const noexcept { return lost_.read(); }
  std::uint64_t duplicated() const noexcept { return duplicated_.read(); }

 private:
  struct Frames {
    HeldFrames held;
    std::uint64_t passed = 0;
    Instant in_order{};  // nothing takes effect before this: a longer cable does not become shorter for what is in it
  };
  FrameFate decide(Lane lane, Packet* packet, Instant effect, Instant arrival, PacketPool& pool);

  template <class Deliver>
  static void release_through(Frames& frames, Instant through, Deliver& deliver) {
    while (frames.held.next() <= through) release_first(frames, deliver);
  }
  template <class Deliver>
  static void release_first(Frames& frames, Deliver& deliver) {
    const HeldFrame f = frames.held.pop();
    deliver(f.packet, f.due, f.start);
    let_go(frames, f.sequence, f.due, deliver);
  }
  template <class Deliver>
  static void let_go(Frames& frames, std::uint64_t sequence, Instant now, Deliver& deliver) {
    frames.held.passed(sequence, [&](const HeldFrame& f) { deliver(f.packet, now, f.start); });
  }

  std::vector<std::shared_ptr<FrameFault>> faults_;
  std::array<Frames, kLanes> lanes_;
  Counter lost_;
  Counter duplicated_;
};

}  // namespace railyard
