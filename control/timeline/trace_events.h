// Timelines for Perfetto (ui.perfetto.dev) and chrome://tracing: the Trace Event Format of Chrome, as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::timeline {

// Slices beyond so many of a run are left out; the file says how many (otherData.omitted_slices).
inline constexpr std::size_t kMostSlices = 1'000'000;

// A process per collective, trace or job; its first thread has the repeats. Per rank threads for each stream of
// computing, for communication (as many as go on at once), and for waiting ("waiting for rank 3"). Arrows lead from each
// send of a trace to its receive. Times are in microseconds of simulated time. Collectives whose steps are not recorded
// (run.timeline) are left out.
std::string trace_events(const build::BuiltLab& lab, std::size_t most_slices = kMostSlices);

}  // namespace railyard::timeline
