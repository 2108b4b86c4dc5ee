// How long a thread that wants a processor all the time goes without it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard::machine {

// Times in which a thread that did nothing but look at the clock did not run: interrupts, other programs, the hypervisor.
struct Gaps {
  static constexpr Duration kLeast{50'000'000};  // shorter ones do not count

  Duration measured{};
  std::uint64_t count = 0;
  Duration p99{};  // of the gaps
  Duration max{};
  // Of the time, the part in gaps of more than 100 us: as likely it is that a packet is later than that.
  double in_long_gaps = 0;
};

// Looks at the clock for so long. `now`: a clock that never goes back.
Gaps measure_gaps(Duration length, const std::function<Duration()>& now);

// On each of `processors` at once, by a thread bound to it; on any one if there are none. The worst counts: the longest
// part in long gaps.
Gaps measure_gaps_on(const std::vector<int>& processors, Duration length);

}  // namespace railyard::machine
