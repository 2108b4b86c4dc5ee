// What a kind of fault that acts on frames makes of its parameters: the stage of one direction of a link.
#pragma once

#include "control/spec/spec.h"
#include "dataplane/base/time.h"
#include "dataplane/fault/chance.h"
#include "dataplane/fault/frame_fault.h"

namespace railyard::fault {

struct FrameStage {
  // Which frames of the direction.
  enum class Frames {
    kData,     // all but PFC and other MAC control frames
    kOfLink,   // these too, if it is a fault of the whole link
    kPauses,   // PFC frames and messages about credits alone
  };

  FrameAction action;
  Frames frames = Frames::kData;
  Chance chance = Chance::always();  // unless the fault says its probability
  Duration longest{};                // for how long it may hold a frame back
};

inline Chance chance_of(const spec::Ratio& r) noexcept { return Chance::of(r.numerator, r.denominator); }

// That of a fault on frames. `alone`: it acts on some frames, not on the whole link.
FrameStage stage_of(const spec::FaultAction& action, bool alone);
// For how long a fault of any kind may hold a frame back.
Duration longest_hold(const spec::FaultSpec& fault);

}  // namespace railyard::fault
