// What a fault does to a frame: a struct for each kind of action, with its parameters and act().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/fault/chance.h"
#include "dataplane/fault/jitter.h"
#include "dataplane/packet/packet.h"
#include "dataplane/packet/pool.h"

namespace railyard {

// The two FIFOs of a direction. What is drawn and counted for one knows nothing of the other, because their frames come
// out of the channel independently of each other.
enum class Lane : std::uint8_t { kData, kMacControl };
inline constexpr std::size_t kLanes = 2;

// What an action remembers from frame to frame, in one lane of one direction.
struct ActionState {
  RngStream rng;
  bool bad = false;  // of a Gilbert-Elliott chain
  JitterWalk jitter;
};

// What becomes of a frame, by all faults that act on it in turn.
struct FrameFate {
  Instant due;               // when it takes effect, in order with others
  Packet* copy = nullptr;    // arrives behind it
  std::uint32_t behind = 0;  // so many later frames let it go earlier
  bool lost = false;
  bool keeps_order = false;  // nothing takes effect before `due` any more
  Duration alone{};          // so much longer, while others overtake it
};

// A frame that an action has in its hands.
struct FrameInHand {
  Packet& packet;
  FrameFate& fate;
  ActionState& state;
  PacketPool& pool;

  bool lose(bool lost) noexcept { return fate.lost = lost; }
};

// act() does what the action does to one frame. Returns whether that is anything: the frame counts as touched then.
namespace frame_action {
// It never arrives.
struct Lose {
  bool act(FrameInHand& f) const noexcept { return f.lose(true); }
};
struct LoseInBursts {
  GilbertElliott chain;
  bool act(FrameInHand& f) const noexcept { return f.lose(chain.loses(f.state.bad, f.state.rng)); }
};
// Bits are wrong, and the FCS says so: the next MAC drops the frame.
struct BitError {
  BitErrors errors;
  bool act(FrameInHand& f) const noexcept;
};
// A bit of the payload is wrong and the FCS is right, as after a fault inside a switch. The ICRC of a RoCEv2 packet
// finds it, of others nothing below their transport. A frame without payload is left alone.
struct Corrupt {
  bool act(FrameInHand& f) const noexcept;
};
// It arrives twice, the second time right behind the first.
// DEVIATION IEEE 802.3 §4.4.2: the copy takes no time on the wire of its own.
struct Duplicate {
  bool act(FrameInHand& f) const;
};
// All behind the first `octets` is missing, the FCS too: the next MAC drops what is left. Never less than the headers.
struct Truncate {
  std::uint32_t octets;

  // What is left of a frame, octets, which may be all of it.
  std::uint32_t left_of(const Packet& p) const noexcept;
  bool act(FrameInHand& f) const noexcept;
};
// An IP packet is cut to its first `keep` octets, as a switch without room for it would (trim.h), and gets DSCP `dscp`;
// one that is no longer, or was cut before, is left alone.
struct Trim {
  std::uint32_t keep;
  std::uint8_t dscp;
  bool act(FrameInHand& f) const noexcept;
};
// An ECN-capable packet is given CE (RFC 3168 §5); others are left alone.
struct Mark {
  bool act(FrameInHand& f) const noexcept;
};
// It takes `least` longer, and up to `spread` more, uniformly distributed; a sum below 0 counts as 0. `keeps_order`: as
// on a longer cable nothing overtakes it, touched or not; else what comes behind it may.
struct Delay {
  Duration least;  // below 0 if the jitter is larger than the mean delay
  Duration spread;
  bool keeps_order;

  // How much later the frame may take effect at most.
  Duration longest() const noexcept { return std::max(Duration{}, least + spread); }
  bool act(FrameInHand& f) const noexcept;
};
// It is held back until `behind` later frames have passed it, `within` at most.
struct Reorder {
  std::uint32_t behind;
  Duration within;
  bool act(FrameInHand& f) const noexcept;
};
}  // namespace frame_action
using FrameAction = std::variant<frame_action::Lose, frame_action::LoseInBursts, frame_action::BitError,
                                 frame_action::Corrupt, frame_action::Duplicate, frame_action::Truncate,
                                 frame_action::Trim, frame_action::Mark, frame_action::Delay, frame_action::Reorder>;

// Whether it is the FCS that tells the next MAC: what link-level retry mends.
inline bool makes_fcs_wrong(const FrameAction& action) noexcept {
  return std::holds_alternative<frame_action::BitError>(action) ||
         std::holds_alternative<frame_action::Truncate>(action);
}

}  // namespace railyard
