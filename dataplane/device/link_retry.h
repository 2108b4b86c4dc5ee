// Link-level retry (LLR) of Ultra Ethernet as a model: the sending end of one direction of a link.
#pragma once

#include <memory>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/counters.h"
#include "dataplane/fault/frame_fault.h"
#include "dataplane/packet/packet.h"

namespace railyard {

struct LinkRetryConfig {
  // What both MACs take from the end of a frame that came in wrong to the NACK, and from the NACK to the replay, with
  // PCS and FEC. >= 0.
  Duration turnaround{200'000};

  bool operator==(const LinkRetryConfig&) const = default;
};

// With LLR (UE 1.0 section 5.1) the frames of a link are numbered. A receiver that finds an FCS wrong takes no frame
// until the missing one, and answers with a NACK; the sender sends that frame again and then all that it has sent since
// (go-back-N). Here the sending end decides what the faults of the link do to a frame, and if its FCS would be wrong,
// the port stands still until the NACK would be there, sends the same frame again, and goes on. The receiver sees no
// difference: what it would have discarded in between is sent once instead of twice, and takes effect at the instant at
// which its replay would have. PFC frames and reports of quality are retried as well.
//
// DEVIATION UE 1.0 section 5.1: what is sent behind a frame that is being retried is chosen after the replay and not
// before, so that it waits in its queue and not in a buffer for replays, and MAC control may overtake it. A frame that
// is in transmission when the NACK comes does not delay the replay. Sequence numbers are in no frame; ordered sets
// (ACK, NACK) take 8 octets of time when they are waited for, none of the frames' beside which they travel, and are
// never hit. There is no limit to replays, and the buffer for them always suffices.
class LinkRetry {
 public:
  static constexpr std::uint32_t kOrderedSetOctets = 8;

  LinkRetry(const LinkRetryConfig& config, Duration propagation) noexcept
      : round_trip_(config.turnaround + 2 * propagation) {
    control_.frame_octets = kLeastFrameOctets;
  }

  // From the start of a frame that comes in wrong to its replay, at `rate`.
  static Duration delay(const LinkRetryConfig& config, BitRate rate, Framing framing, Duration propagation,
                        std::uint32_t frame_octets) noexcept {
    return Bytes{framing.to_tail(frame_octets) + kOrderedSetOctets} / rate + 2 * propagation + config.turnaround;
  }

  // A fault of this direction that makes frames' FCS wrong. It acts as to the instants at which transmissions begin:
  // later ones are not known here. Only while the engine rests.
  void add(std::shared_ptr<FrameFault> fault) { faults_.push_back(std::move(fault)); }
  // Forgets those that have ended at `now`.
  void prune(Instant now);

  // Whether there is anything to ask at a start.
  bool active() const noexcept { return !faults_.empty() || waits_; }
  // Whether a data frame waits for its replay, and of which class: the first of its queue, before all else.
  bool waits() const noexcept { return waits_; }
  Priority waiting() const noexcept { return priority_; }
  // That frame will not be sent: its queue was emptied.
  void give_up(Priority priority) noexcept {
    if (priority == priority_) waits_ = false;
  }

  // Each start of a frame: whether it arrives whole. If not, it is to start again when a NACK has come for it:
  // round_trip() and the time of an ordered set after its last octet was sent.
  bool arrives(Instant now, Priority priority, const Packet& packet);
  bool control_arrives(Instant now);
  // When the control frame that was hit is to start again, unless there is nothing to say any more.
  void control_again(Instant at) noexcept { control_again_ = at; }
  Duration round_trip() const noexcept { return round_trip_; }

  // What has been retried; any thread may ask.
  LinkRetryCounters counters() const noexcept;

 private:
  bool hit(Lane lane, Instant now, const Packet& packet);
  void arrived(Duration late) noexcept;

  Duration round_trip_;
  bool waits_ = false;
  Priority priority_{};
  Instant first_{};  // start of the frame that waits
  Instant control_first_{};
  Instant control_again_ = Instant::never();
  std::vector<std::shared_ptr<FrameFault>> faults_;
  Packet control_{};  // stands for every MAC control frame
  Counter frames_;
  Counter replays_;
  Counter late_;  // ps, and of one frame:
  Counter least_late_;
  Counter most_late_;
};

}  // namespace railyard
