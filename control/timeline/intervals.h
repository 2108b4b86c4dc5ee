// Stretches of time, as sets: joined, subtracted, measured.
#pragma once

#include <vector>

#include "dataplane/base/time.h"

namespace railyard::timeline {

struct Interval {
  Instant from;
  Instant to;  // at or after `from`

  bool operator==(const Interval&) const = default;
};

// The times that are in any of them: in order, apart, none empty.
std::vector<Interval> joined(std::vector<Interval> intervals);
// What of `from` is in none of `without`; both as joined() makes them.
std::vector<Interval> subtracted(const std::vector<Interval>& from, const std::vector<Interval>& without);
// All of them together; they are apart.
Duration length(const std::vector<Interval>& intervals) noexcept;

}  // namespace railyard::timeline
