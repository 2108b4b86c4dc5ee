// The wall clock: the same engine, paced by the machine's clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "dataplane/base/counter.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/polling.h"
#include "dataplane/base/time.h"
#include "dataplane/run/engine.h"
#include "dataplane/run/machine.h"
#include "dataplane/run/requests.h"

namespace railyard {

struct WallClockConfig {
  // Modelled time per wall time; 1/100 makes a fabric a hundred times slower than it says (clock dilation).
  std::int64_t scale_numerator = 1;
  std::int64_t scale_denominator = 1;
  // Behind by more than this (in wall time), modelled time slips: it is set back, which is counted.
  Duration lag_limit{1'000'000'000};
  Polling polling = Polling::kBalanced;
};

struct WallClockStats {
  Histogram lateness;  // ps of wall time from the end of a window to when it was done
  Duration slip{};     // of wall time, in all
  std::uint64_t slips = 0;
  Histogram gaps;           // ps of wall time that the loop was away for more than 50 us: the machine's noise
  Duration wall{};          // how long it ran
  Duration busy{};          // of it, the turns of the loop that moved a packet or ran a window
  std::uint64_t turns = 0;  // of the loop
};

// A run that others look at and ask things of while it goes on. The numbers are those of the last quarter of a second.
struct WallClockLive {
  Requests requests;
  Counter reached_ps;  // modelled time
  Counter busy_ps;     // as in WallClockStats
  Counter wall_ps;
  Counter slip_ps;
  Counter slips;
  Counter lateness_p50_ps;
  Counter lateness_p99_ps;
  Counter lateness_max_ps;
  // What has been measured so far, while it runs. For requests: the engine's thread serves them.
  const WallClockStats* stats = nullptr;
};

// Runs `engine` until modelled time `until`, or until `stop` is set, or until nothing is left to do and nothing is
// polled. Devices that are polled() exchange packets with the outside between windows. With `live` it goes on when
// nothing is left, for there may be requests.
WallClockStats run_wall(Engine& engine, Instant until, const WallClockConfig& config, const std::atomic<bool>& stop,
                        const std::function<void(Instant)>& progress = {}, Machine& machine = Machine::real(),
                        WallClockLive* live = nullptr);

}  // namespace railyard
