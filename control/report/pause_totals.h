// PFC of a whole run, from the counters that tables show: what sentences say of pauses.
#pragma once

#include <cstdint>
#include <string>

namespace railyard::report {

struct Report;

struct PauseTotals {
  std::uint64_t paused_switch_ports = 0;  // port-classes that were paused for any time
  std::uint64_t paused_nics = 0;
  std::uint64_t xoff_by_switches = 0;  // frames, refreshes included
  std::uint64_t xoff_by_nics = 0;
  std::uint64_t xoff_received = 0;  // by anybody; those that a fault makes are sent by nobody

  std::uint64_t paused() const noexcept { return paused_switch_ports + paused_nics; }
  bool none() const noexcept { return paused() + xoff_by_switches + xoff_by_nics + xoff_received == 0; }
  // "no PFC pause frames were sent", "PFC paused 1 switch port and 3 NICs (24 XOFF frames sent by switches)"
  std::string text() const;
};
PauseTotals pause_totals(const Report& report);

}  // namespace railyard::report
