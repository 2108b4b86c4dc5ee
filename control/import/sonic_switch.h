// A SONiC switch as its configuration describes it: ports, classes, memory, watchdog, trimming.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/import/sonic_buffers.h"
#include "control/import/sonic_queues.h"

namespace railyard::importing {

// PFC_WD, in milliseconds.
struct SonicWatchdog {
  std::int64_t detect = 0;
  std::int64_t restore = 0;
  std::string action;  // drop, forward, alert

  bool operator==(const SonicWatchdog&) const = default;
};

// SWITCH_TRIMMING|GLOBAL.
struct SonicTrimming {
  std::int64_t size = 0;  // octets that remain
  int dscp = 0;
  int to_class = 0;
};

struct SonicSwitch {
  std::string hostname;  // as the file has it
  std::string name;      // of the node
  std::string model;     // hwsku; may be empty
  std::vector<SonicPort> ports;
  SonicMaps maps;
  SonicBuffers buffers;
  std::array<QueueSettings, kClasses> queues;
  std::optional<SonicWatchdog> watchdog;
  std::int64_t watchdog_poll = 0;  // milliseconds
  std::optional<SonicTrimming> trimming;

  // Some link has PFC in the class; others are said to have none.
  bool is_lossless(std::size_t c) const;
};

// Throws SpecError for what contradicts itself, with table, key and field. What has no counterpart remains in
// db.left_out().
SonicSwitch read_switch(const ConfigDb& db, const PgProfileLookup& lookup);

}  // namespace railyard::importing
