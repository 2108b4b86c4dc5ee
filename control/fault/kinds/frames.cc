// Kinds of faults that act on frames: what a link does to them.
#include "control/fault/frame_stage.h"

namespace railyard::spec::fault {

using railyard::fault::chance_of;
using Frames = railyard::fault::FrameStage::Frames;

// ---- Losses ----

Stage Loss::stage(bool) const {
  return {.action = frame_action::Lose{}, .frames = Frames::kOfLink, .chance = chance_of(share)};
}

Stage BurstLoss::stage(bool) const {
  return {.action = frame_action::LoseInBursts{{chance_of(good_to_bad), chance_of(bad_to_good), chance_of(in_good),
                                                chance_of(in_bad)}},
          .frames = Frames::kOfLink};
}

Stage BitErrorRate::stage(bool) const {
  return {.action = frame_action::BitError{BitErrors(rate.numerator, rate.denominator)}, .frames = Frames::kOfLink};
}

Stage Drop::stage(bool) const { return {.action = frame_action::Lose{}, .frames = Frames::kOfLink}; }
Stage LosePause::stage(bool) const { return {.action = frame_action::Lose{}, .frames = Frames::kPauses}; }

// ---- Delays ----

Stage Delay::stage(bool alone) const {
  const frame_action::Delay action{.least = time - jitter,
                                   .spread = jitter > Duration{} ? 2 * jitter : jitter_up,
                                   .keeps_order = in_order && !alone};
  return {.action = action, .frames = Frames::kOfLink, .longest = action.longest()};
}

Stage Reorder::stage(bool) const {
  return {.action = frame_action::Reorder{static_cast<std::uint32_t>(behind), within}, .longest = within};
}

// ---- Contents ----

Stage Corrupt::stage(bool) const { return {.action = frame_action::Corrupt{}}; }
Stage Duplicate::stage(bool) const { return {.action = frame_action::Duplicate{}}; }
Stage Mark::stage(bool) const { return {.action = frame_action::Mark{}}; }
Stage Truncate::stage(bool) const { return {.action = frame_action::Truncate{octets}}; }
Stage TrimPackets::stage(bool) const {
  return {.action = frame_action::Trim{keep, static_cast<std::uint8_t>(dscp)}};
}

}  // namespace railyard::spec::fault
