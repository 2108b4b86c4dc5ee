// What EOS says of a port's queues: trust, PFC, tx-queue, watchdog; in a qos profile or at the interface.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/import/running_config.h"
#include "control/import/switch_config.h"

namespace railyard::importing {

struct EosWatchdog {
  bool on = false;
  std::int64_t timeout = 0;  // ms; 0: not said
  std::int64_t recovery = 0;
  std::int64_t polling = 0;  // 0: auto
  std::string action;        // "": not said

  bool operator==(const EosWatchdog&) const = default;
};

struct EosPortQos {
  std::optional<bool> trust_pcp;
  bool pfc_on = false;
  std::set<int> no_drop;  // priorities
  std::array<QueueSettings, kClasses> queues;
  EosWatchdog watchdog;

  // Where it is said.
  std::vector<const ConfigLine*> trust_lines;
  std::vector<const ConfigLine*> pfc_lines;
  std::array<std::vector<const ConfigLine*>, kClasses> queue_lines;  // tx-queue and what is below it
  std::vector<const ConfigLine*> watchdog_lines;
};

// Applies `lines` of a qos profile or of an interface to what is known so far. Throws SpecError for a queue or a
// priority above 7, thresholds that contradict each other, and units and times that are none.
void read_eos_port(const RunningConfig& config, const std::deque<ConfigLine>& lines, EosPortQos& into);
// A line that begins "priority-flow-control pause watchdog", at a port or for all.
void read_eos_watchdog(const RunningConfig& config, const ConfigLine& line, EosWatchdog& into);
// EOS schedules a queue round robin if it, or one with a higher number, says `no priority`; others are strict. Call it
// once all lines of a port are read.
void settle_eos_scheduling(const RunningConfig& config, EosPortQos& port);

}  // namespace railyard::importing
