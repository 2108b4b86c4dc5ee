// Who sends and who receives, found and checked.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "control/spec/draft.h"
#include "control/spec/spec.h"

namespace railyard::spec {

struct TrafficEnds {
  std::vector<PortName> from;
  std::vector<PortName> to;
};

// Throws SpecError for selectors without a match, attached senders, and ends that do not suit the pattern.
TrafficEnds find_ends(const Draft& draft, const TrafficSpec& traffic, const Tree& said);

// The parts of the traffic that choose pairs by themselves: all patterns but pairs stay within a rail (NIC k to NIC k).
// Per rail of the senders the receivers of the same rail, or all if there are none; for incast the other way round.
std::vector<TrafficEnds> rails(const TrafficSpec& traffic, const TrafficEnds& ends);

// Pairs of NICs that the pattern may choose, enough of them: for two groups of NICs that `group` gives the same
// numbers, one. A host does not send to itself: pairs within one are not there.
std::vector<std::pair<PortName, PortName>> possible_pairs(const TrafficSpec& traffic, const TrafficEnds& ends,
                                                          const std::function<std::size_t(const PortName&)>& group);

}  // namespace railyard::spec
