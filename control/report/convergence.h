// How soon flows that share a receiver share it evenly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard::report {

// Flows to one NIC.
struct Sharing {
  // By flow: octets of payload that had arrived at instants 0, every, 2 x every, ...
  std::vector<std::vector<std::uint64_t>> arrived;
  Duration every{};
  Duration onset{};          // since 0: when the last of them started
  Duration until{};          // since 0: when the first of them was done, or the series ends
  double fair_bps = 0;       // of payload: of each, if they share evenly
  double packet_octets = 0;  // of payload
};

// The convergence time of T6.4 and T7.3 of draft-calabria-bmwg-ai-fabric-training-bench-04: from the onset to the first
// instant from which on the rates of all flows stay within kWithin of the fair share. The draft names neither the time
// that a rate is taken over nor how long it must hold (DEVIATION, ours): a window is what kWindowPackets packets of one
// flow take at the fair share, and they stay for kHold windows, one behind the other. Nothing: not before `until`.
inline constexpr double kWithin = 0.1;
inline constexpr int kWindowPackets = 100;
inline constexpr int kHold = 10;
std::optional<Duration> convergence(const Sharing& sharing);
// How near to it they come: the least part of the fair share, 0.25 for 25 %, that no flow was farther from it by in
// kHold windows one behind the other. Nothing: there were not so many.
std::optional<double> nearest_share(const Sharing& sharing);

}  // namespace railyard::report
