// The clock of a NIC. IEEE 802.3 lets a bit clock be off by 100 ppm either way (such as 25.78125 GBd +-100 ppm in Table
// 88-7), so no two NICs send in step for long.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// How a NIC's clock differs from modelled time, which is that of the switches. NICs differ from each other by up to
// twice the error that is allowed either way. All are slower than the switches, by half of that error at least: a NIC as
// fast as a full queue's port would come in at the same moment between two departures for ever, and lose nothing or all.
//
// Switch ports send at the exact rate. Real ones have clocks of their own, too, and shorten the gaps between frames
// where what comes in is faster (IEEE 802.3 49.2.4.7 and 82.2.3.6: idles are deleted to adapt between clock rates). So
// queues do not grow by clocks alone, no port carries more than its link's rate, and no frame comes earlier than a
// window or a headroom allows for.
struct NicClock {
  std::uint32_t slower_ppb = 0;  // billionths; 0: exact
  std::uint32_t phase = 0;       // where in its own cycle it begins: a fraction of 2^32

  constexpr bool exact() const noexcept { return slower_ppb == 0 && phase == 0; }
  // A part of `cycle`.
  constexpr Duration offset(Duration cycle) const noexcept {
    return {static_cast<std::int64_t>((static_cast<Int128>(cycle.ps) * phase) >> 32)};
  }

  bool operator==(const NicClock&) const = default;
};

}  // namespace railyard
