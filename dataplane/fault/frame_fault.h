// One fault that acts on frames, on one direction of one link.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/fault/activity.h"
#include "dataplane/fault/chance.h"
#include "dataplane/fault/frame_match.h"

namespace railyard {

// What is done to a frame.
namespace frame_action {
// It never arrives.
struct Lose {};
struct LoseInBursts {
  GilbertElliott chain;
};
// Bits are wrong, and the FCS says so: the next MAC drops the frame.
struct BitError {
  BitErrors errors;
};
// A bit of the payload is wrong and the FCS is right, as after a fault inside a switch. The ICRC of a RoCEv2 packet
// finds it, of others nothing below their transport. A frame without payload is left alone.
struct Corrupt {};
// It arrives twice, the second time right behind the first.
// DEVIATION IEEE 802.3 §4.4.2: the copy takes no time on the wire of its own.
struct Duplicate {};
// All behind the first `octets` is missing, the FCS too: the next MAC drops what is left. Never less than the headers.
struct Truncate {
  std::uint32_t octets;

  // What is left of a frame, octets, which may be all of it.
  std::uint32_t left_of(const Packet& p) const noexcept;
};
// An IP packet is cut to its first `keep` octets, as a switch without room for it would (trim.h), and gets DSCP `dscp`;
// one that is no longer, or was cut before, is left alone.
struct Trim {
  std::uint32_t keep;
  std::uint8_t dscp;
};
// An ECN-capable packet is given CE (RFC 3168 §5); others are left alone.
struct Mark {};
// It takes `time` longer, and up to `jitter` more, drawn evenly. `keeps_order`: as on a longer cable nothing overtakes
// it, touched or not; else what comes behind it may.
struct Delay {
  Duration time;
  Duration jitter;
  bool keeps_order;
};
// It is held back until `behind` later frames have passed it, `within` at most.
struct Reorder {
  std::uint32_t behind;
  Duration within;
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

// The two FIFOs of a direction. What is drawn and counted for one knows nothing of the other, because their frames come
// out of the channel independently of each other.
enum class Lane : std::uint8_t { kData, kMacControl };
inline constexpr std::size_t kLanes = 2;

struct FrameFaultConfig {
  FrameAction action;
  ActivityConfig when = {};  // as to the arrival of a frame; with LLR, to its start
  FrameMatch match = {};
  std::uint64_t nth = 0;             // of the frames that match in an occurrence only this one; 0: all
  std::uint64_t most = 0;            // so many frames are touched at most; 0: no limit
  Chance chance = Chance::always();  // per frame
  std::array<bool, kLanes> lanes{true, false};
};

// Its state and what it has done. Belongs to the device that receives, or, if it is retried on the link, to that which
// sends; anybody may read touched().
class FrameFault {
 public:
  // `drawer` names its random streams, and no other fault's: "fault/<name>/<port>".
  FrameFault(FrameFaultConfig config, Seed seed, const std::string& drawer);

  const FrameFaultConfig& config() const noexcept { return config_; }

  // Whether it looks at this frame, which arrives at `arrival`. Arrivals of a lane do not go back. Counts occurrences
  // of what matches, and draws. With LLR each transmission is a frame.
  bool acts(Lane lane, const Packet& packet, Instant arrival);
  // It has done what acts() allowed.
  void touch(Lane lane);
  RngStream& rng(Lane lane) noexcept { return states_[static_cast<std::size_t>(lane)].rng; }
  // Of a Gilbert-Elliott chain.
  bool& bad(Lane lane) noexcept { return states_[static_cast<std::size_t>(lane)].bad; }

  // Nothing that arrives at or after `at` is touched. Only while the engine rests.
  void end_at(Instant at) noexcept { ended_ = at < ended_ ? at : ended_; }
  Instant ends_at() const noexcept { return ended_; }
  // It is active in `interval`, too, which is behind all others. By the device that receives, or while it rests.
  void occur(Interval interval);

  // Frames touched.
  std::uint64_t touched() const noexcept { return touched_.read(); }
  // By occurrence, those in which any was. While the engine rests. At most kMostOccurrences: later ones are in
  // touched() only.
  struct Touched {
    Interval when;
    std::uint64_t frames = 0;
  };
  static constexpr std::size_t kMostOccurrences = 1 << 16;
  std::vector<Touched> touched_by_occurrence() const;

 private:
  struct State {
    Activity activity;
    Interval current{Instant::never(), Instant::never()};
    bool over = false;  // no occurrence comes after `current`
    RngStream rng;
    std::uint64_t matched = 0;
    std::uint64_t touched = 0;
    bool bad = false;
    std::vector<Touched> by_occurrence;
  };

  FrameFaultConfig config_;
  std::array<State, kLanes> states_;
  Instant ended_ = Instant::never();
  Counter touched_;
};

}  // namespace railyard
