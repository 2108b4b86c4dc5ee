// What more workers would bring a run: estimated from a run of one worker, window by window.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/device/fabric.h"

namespace railyard {

struct ScalingEstimate {
  std::size_t workers = 0;
  double speedup = 1;            // time of the engine with one worker / with so many
  double parallel_windows = 0;   // share of windows that have enough devices with something to do
  double imbalance = 1;          // of these: time of the busiest worker / mean of all, weighted by time
  double crossing = 0;           // share of data frames between devices of two workers
};

// The model: devices are placed as for so many workers (placement.h). A window with few devices that have something to do takes
// as long as with one worker, as the engine does it. Others take as long as their busiest worker, and the time that workers need to
// meet. A frame that changes workers costs kCrossing more, at any of them.
//
// Time is measured per device and window. It is that of this machine and moment, so estimates are not the same twice.
class ScalingProfile {
 public:
  // Between two processors' caches: its headers and metadata, and the channel's slot. Fitted to runs with two workers
  // (docs/scale.md).
  static constexpr Duration kCrossing{300'000};

  // For 2, 4, 8, ... workers, up to 64, of which each has kThinWindow devices or more. `meeting`: what two workers need to meet at the end of
  // a window; 2^n workers n times as long.
  ScalingProfile(const Fabric& fabric, Duration meeting);

  // A device took so long, in cycles, in the window that is being run.
  void add(std::size_t device, std::uint64_t cycles);
  void end_window();

  Duration meeting() const noexcept { return meeting_; }
  // By number of workers. Only while the engine rests.
  std::vector<ScalingEstimate> estimates() const;

  // Least of several measurements; nothing runs beside it. 1 us on a machine of one processor.
  static Duration measure_meeting();
  static std::uint64_t cycles() noexcept { return __builtin_ia32_rdtsc(); }

 private:
  struct Team {
    std::size_t workers = 0;
    std::vector<std::uint8_t> worker_of;   // by device
    std::vector<std::uint64_t> busy;       // by worker, in this window
    std::uint64_t serial = 0;              // cycles of windows that are run by one worker
    std::uint64_t longest = 0, all = 0;    // of the others: of the busiest worker, of all
    std::uint64_t parallel = 0;            // windows of these
  };

  const Fabric& fabric_;
  Duration meeting_;
  std::vector<Team> teams_;
  std::size_t due_ = 0;         // devices in this window
  std::uint64_t in_window_ = 0; // cycles
  std::uint64_t all_ = 0;
  std::uint64_t windows_ = 0;
  std::uint64_t began_cycles_ = cycles();
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace railyard
