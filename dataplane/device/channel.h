// One direction of a link: what has been sent and has not yet taken effect at the other end.
#pragma once

#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/base/time.h"
#include "dataplane/device/doorbell.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// A frame on its way. `effect` is the earliest instant at which it can change anything in the receiver.
struct InFlight {
  Instant effect;
  Instant start;  // of its transmission
  Packet* packet;
};

// Two FIFOs, each in order of effect, from one sending port to one receiving port. Frames are pushed at the start of
// transmission; from then on the packet belongs to the receiver. Between devices nothing else is shared.
//
// Effects (engine rules): a data frame counts from its tail, or from its header when the receiver cuts through, plus
// the receiver's latency for data; a MAC control frame counts from its tail plus the standard's response time.
class Channel {
 public:
  // Frames are handed to a cut-through receiver when this much of them has arrived: what its parser looks at.
  static constexpr std::uint32_t kCutThroughOctets = 128;

  Channel(DeviceId to, PortIndex to_port) : receiver(to), receiver_port(to_port) {
    deliver_to(unwatched_, unwatched_);
    wake_through(&unheard_, true);
  }

  // Sender only. `lead` is effect - start, before the order of the FIFO is kept.
  void push_data(Instant start, Duration lead, Packet* packet) { push(data, start, lead, packet); }
  void push_control(Instant start, Duration lead, Packet* packet) { push(control, start, lead, packet); }

  // The least that lies between the start of a frame and its effect: what the window rests on.
  Duration lookahead() const noexcept {
    return propagation + (data_latency < control_latency ? data_latency : control_latency);
  }

  // What the receiver looks at to learn that something has been pushed.
  void deliver_to(Doorbell data_bell, Doorbell control_bell) noexcept {
    data.side().bell = data_bell;
    control.side().bell = control_bell;
  }
  // The receiver's next instant, lowered by every push; the engine points it to where the sender's worker may write,
  // and says whether that may be another one than the receiver's.
  void wake_through(Instant* next, bool across_workers) noexcept {
    for (Fifo* fifo : {&data, &control}) {
      fifo->side().wake = next;
      fifo->side().bell.across_workers = across_workers;
    }
  }

  DeviceId receiver;
  PortIndex receiver_port;
  Duration propagation{};
  Duration data_latency{};     // the receiver's MAC and pipeline
  Duration control_latency{};  // the receiver's response to a pause frame
  bool cut_through = false;    // the receiver acts on the header

  struct Sending {
    Instant last{};  // effect of the frame pushed last
    Instant* wake = nullptr;
    Doorbell bell;
  };
  using Fifo = SpscRing<InFlight, Sending>;
  Fifo data;
  Fifo control;

 private:
  static void push(Fifo& fifo, Instant start, Duration lead, Packet* packet) {
    Sending& s = fifo.side();
    Instant effect = start + lead;
    if (effect < s.last) effect = s.last;  // a latency that shrank does not reorder
    s.last = effect;
    fifo.push({effect, start, packet});
    s.bell.ring();
    if (effect < *s.wake) *s.wake = effect;
  }

  Instant unheard_ = Instant::never();
  DoorbellWord unwatched_word_;
  Doorbell unwatched_{&unwatched_word_, 0};
};

}  // namespace railyard
