// One direction of a link: what has been sent and has not yet taken effect at the other end.
#pragma once

#include <cstdint>

#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/base/time.h"
#include "dataplane/device/crossing_frames.h"
#include "dataplane/device/doorbell.h"
#include "dataplane/device/near_frames.h"
#include "dataplane/packet/packet.h"

namespace railyard {

class LinkRetry;

// Two FIFOs, each in order of effect, from one sending port to one receiving port. Frames are pushed at the start of
// transmission; from then on the packet belongs to the receiver. Between devices nothing else is shared. A FIFO is a ring;
// but what takes effect within a few windows goes into the receiver's list of near frames, at once within one worker, and at
// the end of the window from one worker to another.
//
// Effects (engine rules): a data frame counts from its tail, or from its header when the receiver cuts through, plus
// the receiver's latency for data; a MAC control frame counts from its tail plus the standard's response time.
class Channel {  // begins a cache line, as its doorbell does
 public:
  // Frames are handed to a cut-through receiver when this much of them has arrived: what its parser looks at.
  static constexpr std::uint32_t kCutThroughOctets = 128;

  Channel(DeviceId to, PortIndex to_port) : receiver(to), receiver_port(to_port) {
    deliver_to(unwatched_, unwatched_);
    wake_through(&unheard_, true);
  }

  // Sender only. `lead` is effect - start, before the order of the FIFO is kept.
  void push_data(Instant start, Duration lead, Packet* packet) {
    push(last_data_, data, EventKind::kArrival, start, lead, packet);
  }
  void push_control(Instant start, Duration lead, Packet* packet) {
    push(last_control_, control, EventKind::kMacControl, start, lead, packet);
  }

  // The least that lies between the start of a frame and its effect: what the window rests on.
  Duration lookahead() const noexcept {
    return propagation + (data_latency < control_latency ? data_latency : control_latency);
  }

  // What the receiver looks at to learn that something has been pushed.
  void deliver_to(Doorbell data_bell, Doorbell control_bell) noexcept {
    data.side() = data_bell;
    control.side() = control_bell;
  }
  // From now on frames go into `near`, the receiver's, with those that are in the FIFOs; nullptr: through the FIFOs.
  // Only while the engine rests.
  void deliver_near(NearFrames* near) {
    near_ = near;
    crossing_ = {};
    if (near == nullptr) return;
    move_to_near(data, EventKind::kArrival);
    move_to_near(control, EventKind::kMacControl);
  }
  // From now on frames go into `frames`, which the receiver's worker delivers to `near`, the receiver's, at the end of each
  // window, and lowers `next`, the receiver's next instant. Only while the engine rests, with nothing in the FIFOs.
  void deliver_crossing(CrossingFrames* frames, NearFrames* near, Instant* next) noexcept {
    near_ = nullptr;
    crossing_ = {frames, near, next};
  }
  // Whether frames come to the receiver in its list of near frames.
  bool near() const noexcept { return received_near() != nullptr; }
  void prefetch_near() const noexcept { __builtin_prefetch(near_, 1); }

  // The receiver's next instant, lowered by every push; the engine points it to where the sender's worker may write,
  // and says whether that may be another one than the receiver's.
  void wake_through(Instant* next, bool across_workers) noexcept {
    wake_ = next;
    for (Fifo* fifo : {&data, &control}) fifo->side().across_workers = across_workers;
  }

  // How many frames are on their way. While the engine rests.
  std::size_t in_flight() const noexcept {
    return elsewhere_ + data.size() + control.size() +
           (!near() ? 0
                    : received_near()->count(receiver_port, EventKind::kArrival) +
                          received_near()->count(receiver_port, EventKind::kMacControl));
  }

  // The same, said by the process that advances the receiver.
  void in_flight_elsewhere(std::size_t frames) noexcept { elsewhere_ = frames; }

  DeviceId receiver;
  PortIndex receiver_port;
  bool cut_through = false;  // the receiver acts on the header
  Duration propagation{};
  Duration data_latency{};     // the receiver's MAC and pipeline
  Duration control_latency{};  // the receiver's response to a pause frame

 private:
  // The sender's; with the fields above in one cache line, which is all that a frame within a worker touches here.
  NearFrames* near_ = nullptr;
  Instant* wake_ = nullptr;
  Instant last_data_{};  // effect of the frame pushed last
  Instant last_control_{};

 public:
  using Fifo = SpscRing<InFlight, Doorbell>;
  Fifo data;
  Fifo control;
  LinkRetry* retry = nullptr;  // the sender's; the link has no LLR
  Framing framing{};

 private:
  [[gnu::always_inline]] void push(Instant& last, Fifo& fifo, EventKind kind, Instant start, Duration lead,
                                   Packet* packet) {
    Instant effect = start + lead;
    if (effect < last) effect = last;  // a latency that shrank does not reorder
    last = effect;
    if (near_ != nullptr) [[likely]]
      near_->push({effect, start, packet}, receiver_port, kind);
    else
      push_far(fifo, kind, {effect, start, packet});
    if (effect < *wake_) *wake_ = effect;
  }
  [[gnu::noinline]] void push_far(Fifo& fifo, EventKind kind, const InFlight& frame) {
    if (crossing_.frames != nullptr) {
      crossing_.frames->push(crossing_.to, crossing_.next, {frame, receiver_port, kind});
      return;
    }
    fifo.push(frame);
    fifo.side().ring();
  }
  const NearFrames* received_near() const noexcept { return near_ != nullptr ? near_ : crossing_.to; }

  void move_to_near(Fifo& fifo, EventKind kind) {
    for (; const InFlight* f = fifo.front(); fifo.pop()) near_->push(*f, receiver_port, kind);
  }

  struct Crossing {
    CrossingFrames* frames = nullptr;
    NearFrames* to = nullptr;
    Instant* next = nullptr;
  };
  Crossing crossing_;
  Instant unheard_ = Instant::never();
  std::size_t elsewhere_ = 0;
  DoorbellWord unwatched_word_;
  Doorbell unwatched_{&unwatched_word_, 0};
};

}  // namespace railyard
