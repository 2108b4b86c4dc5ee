#include "control/build/state_memory.h"

#include "dataplane/device/counters.h"

namespace railyard::build {
namespace {

// Of the counters of a port: two classes that are used, data and what answers them.
constexpr std::int64_t kPort = sizeof(PortCounters) + 2 * sizeof(ClassCounters);
// They are taken at the end of the warm-up, of the traffic and of the run, and then once more into the report, where each
// port also has names, shares and what the doctor reads of it.
constexpr std::int64_t kTimes = 4;
constexpr std::int64_t kPortReport = 2300;
// Of a flow with messages: two histograms of latencies (a few powers of two), contexts at both ends, and
// its part of the report as text and as the doctor reads it.
constexpr std::int64_t kFlow = 2 * 2'000 + 6'000 + 12'000;

}  // namespace

StateMemory state_memory(const BuiltLab& lab) {
  StateMemory m;
  m.built = lab.memory();
  std::int64_t ports = 0;
  for (const auto& device : lab.fabric().devices()) {
    ++(lab.is_switch(device->id()) ? m.switches : m.hosts);
    ports += static_cast<std::int64_t>(device->ports());
  }
  m.per_run = static_cast<std::int64_t>(lab.flows().size()) * kFlow;
  m.report = ports * (kTimes * kPort + kPortReport);
  return m;
}

}  // namespace railyard::build
