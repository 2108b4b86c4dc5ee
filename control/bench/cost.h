// How long a benchmark takes on this machine, before it runs: roughly, from packets and the speed of one run.
#pragma once

#include <cstddef>
#include <string>

#include "control/bench/fabric_facts.h"
#include "control/spec/spec.h"

namespace railyard::bench {

struct Plan;

// Frames with payload that switches forward in a run of `lab`: those of its flows and collectives, times the switches on the
// longest path. Retransmissions, and the work of jobs and traces, are left out.
double expected_hops(const spec::Lab& lab, const FabricFacts& fabric);

// What a machine needs for runs.
struct Speed {
  double hops_per_second = 3e6;   // of one process, counted as expected_hops() does
  double seconds_per_run = 0.2;  // beside them: start, reading the lab, the report
};

// A lab whose run says how fast the machine is; and its speed, from expected_hops() and the processor time of that run.
std::string pilot_lab();
Speed speed_of(double hops, double cpu_seconds) noexcept;

// Runs of a clause: cases x seeds; of a search with its steps, of phases with the runs that say when they are.
std::size_t runs_of(const Plan& plan);
// Their time in seconds, `parallel` at a time.
double seconds_of(const Plan& plan, const Speed& speed, std::size_t parallel);

// "40 s", "12 min", "3.5 h", "2.1 days".
std::string duration_text(double seconds);

}  // namespace railyard::bench
