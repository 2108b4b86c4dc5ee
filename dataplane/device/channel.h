// One direction of a link: what has been sent and has not yet taken effect at the other end.
#pragma once

#include <atomic>
#include <cstdint>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// A frame on its way. `effect` is the earliest instant at which it can change anything in the receiver.
struct InFlight {
  Instant effect;
  Instant start;  // of its transmission
  Packet* packet;
};

class Channel;

// What a receiving port watches: one word rung by the sender for every frame, and what the receiver remembers of it, so
// that a device sees in one pass over an array which of its ports have something.
struct alignas(64) Inbox {
  static constexpr std::uint64_t kData = 1;
  static constexpr std::uint64_t kControl = std::uint64_t{1} << 32;

  std::atomic<std::uint64_t> bell{0};          // sender's: counts data frames below, control frames above
  std::uint64_t seen = 0;                      // receiver's: the bell when it last looked
  Instant next_data = Instant::never();        // receiver's: effect of the oldest frame it knows of
  Instant next_control = Instant::never();
  Channel* channel = nullptr;
  Counter delivered;
  bool link_was_down = false;                  // frames may have been lost on the wire
};

// Two FIFOs, each in order of effect, from one sending port to one receiving port. Frames are pushed at the start of
// transmission; from then on the packet belongs to the receiver. Between devices nothing else is shared.
//
// Effects (engine rules): a data frame counts from its tail, or from its header when the receiver cuts through, plus the
// receiver's latency for data; a MAC control frame counts from its tail plus the standard's response time.
class Channel {
 public:
  // Frames are handed to a cut-through receiver when this much of them has arrived: what its parser looks at.
  static constexpr std::uint32_t kCutThroughOctets = 128;

  Channel(DeviceId to, PortIndex to_port) : receiver(to), receiver_port(to_port) {
    deliver_to(unwatched_);
    wake_through(&unheard_);
  }

  // Sender only. `lead` is effect - start, before the order of the FIFO is kept.
  void push_data(Instant start, Duration lead, Packet* packet) { push(data, Inbox::kData, start, lead, packet); }
  void push_control(Instant start, Duration lead, Packet* packet) {
    push(control, Inbox::kControl, start, lead, packet);
  }

  // The least that lies between the start of a frame and its effect: what the window rests on.
  Duration lookahead() const noexcept {
    return propagation + (data_latency < control_latency ? data_latency : control_latency);
  }

  // The receiver's watch on this channel.
  void deliver_to(Inbox& inbox) noexcept { data.side().inbox = control.side().inbox = &inbox; }
  // The receiver's next instant, lowered by every push; the engine points it to where the sender's worker may write.
  void wake_through(Instant* next) noexcept { data.side().wake = control.side().wake = next; }

  DeviceId receiver;
  PortIndex receiver_port;
  Duration propagation{};
  Duration data_latency{};     // the receiver's MAC and pipeline
  Duration control_latency{};  // the receiver's response to a pause frame
  bool cut_through = false;    // the receiver acts on the header

  struct Sending {
    Instant last{};  // effect of the frame pushed last
    Instant* wake = nullptr;
    Inbox* inbox = nullptr;
  };
  using Fifo = SpscRing<InFlight, Sending>;
  Fifo data;
  Fifo control;

 private:
  static void push(Fifo& fifo, std::uint64_t ring, Instant start, Duration lead, Packet* packet) {
    Sending& s = fifo.side();
    Instant effect = start + lead;
    if (effect < s.last) effect = s.last;  // a latency that shrank does not reorder
    s.last = effect;
    fifo.push({effect, start, packet});
    // One sender rings; the release in push() comes first, so whoever hears the bell finds the frame.
    std::atomic<std::uint64_t>& bell = s.inbox->bell;
    bell.store(bell.load(std::memory_order_relaxed) + ring, std::memory_order_release);
    if (effect < *s.wake) *s.wake = effect;
  }

  Instant unheard_ = Instant::never();
  Inbox unwatched_;
};

}  // namespace railyard
