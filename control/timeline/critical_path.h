// What a repeat took so long for: from its end back to its beginning, each time to what was waited for last.
#pragma once

#include <cstdint>
#include <vector>

#include "control/build/built_lab.h"
#include "control/timeline/timeline.h"

namespace railyard::timeline {

struct PathPart {
  enum class Kind : std::uint8_t {
    kCompute,
    kMessage,          // from being sent to being there
    kAcknowledgement,  // from then until its sender knows: of one that had to be acknowledged before its sender went on
    kWait              // for a busy stream, or for the previous repeat
  };
  Kind kind = Kind::kCompute;
  std::uint32_t rank = 0;  // whose computing; the sender
  std::uint32_t peer = 0;  // messages: the receiver
  std::uint32_t connection = 0;  // messages: of the sender's program
  std::uint64_t octets = 0;      // messages
  Interval when{};
};

// From the last instant of the repeat back to its first; the parts are in the order of time, and leave out nothing.
// `repeat`: of a timeline of that collective.
std::vector<PathPart> critical_path(const build::Collective& collective, const RepeatTimes& repeat);

}  // namespace railyard::timeline
