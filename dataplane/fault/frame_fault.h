// One fault that acts on frames, on one direction of one link.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/fault/activity.h"
#include "dataplane/fault/chance.h"
#include "dataplane/fault/frame_action.h"
#include "dataplane/fault/frame_match.h"

namespace railyard {

class StateArchive;

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
  // What its action draws from and remembers.
  ActionState& state(Lane lane) noexcept { return states_[static_cast<std::size_t>(lane)].of_action; }

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

  // What it has touched: told by the process that runs its device, taken by others.
  void exchange_figures(StateArchive& archive);

 private:
  struct State {
    Activity activity;
    Interval current{Instant::never(), Instant::never()};
    bool over = false;  // no occurrence comes after `current`
    ActionState of_action;
    std::uint64_t matched = 0;
    std::uint64_t touched = 0;
    std::vector<Touched> by_occurrence;
  };

  FrameFaultConfig config_;
  std::array<State, kLanes> states_;
  Instant ended_ = Instant::never();
  Counter touched_;
  std::optional<std::vector<Touched>> told_;  // by occurrence, by the process that runs its device
};

}  // namespace railyard
