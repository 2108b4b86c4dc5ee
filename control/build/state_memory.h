// How much memory a run of a lab takes beside its packets.
#pragma once

#include <cstdint>

#include "control/build/built_lab.h"

namespace railyard::build {

struct StateMemory {
  std::uint64_t hosts = 0;
  std::uint64_t switches = 0;
  BuildMemory built;         // measured when the lab was built
  std::int64_t per_run = 0;  // what connections of the traffic take when they run: contexts, histograms of latency
  std::int64_t report = 0;   // counters at the end of the warm-up, of the traffic and of the run, and the report

  // Octets.
  std::int64_t of_hosts() const noexcept { return built.hosts + built.traffic + per_run; }
  std::int64_t per_host() const noexcept { return hosts == 0 ? 0 : of_hosts() / static_cast<std::int64_t>(hosts); }
  std::int64_t per_switch() const noexcept {
    return switches == 0 ? 0 : built.switches / static_cast<std::int64_t>(switches);
  }
  std::int64_t total() const noexcept { return built.total() + per_run + report; }
};

StateMemory state_memory(const BuiltLab& lab);

}  // namespace railyard::build
