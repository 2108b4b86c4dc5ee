// How routing has reacted to what happened to links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard::rerouting {

// From the first link that went down or came up, or switch that was drained, until routing is at rest again: nothing is
// on its way from switch to switch, and no table will change. docs/metrics.md, "reroutings".
struct Rerouting {
  struct Cause {
    std::int64_t at_ns;
    std::string what;  // "leaf1:5 down"
  };
  // Of causes, in order; both ends of a link count. No more than kMostCauses are listed.
  static constexpr std::size_t kMostCauses = 64;
  std::vector<Cause> causes;
  std::uint64_t cause_count = 0;
  std::int64_t began_ns = 0;          // the first cause
  std::int64_t first_change_ns = -1;  // of a table; -1: none has changed
  std::int64_t last_change_ns = -1;
  std::uint64_t switches = 0;       // whose tables have changed
  std::uint64_t table_changes = 0;  // each of one switch at one instant
  std::uint64_t routes = 0;         // destinations in these
  std::uint64_t messages = 0;       // between switches
  bool at_rest = false;
  // Packets lost on links that were down or had a fault, and for want of a way, in spans of losses (LossLog) that touch
  // the time from the first cause to 1 ms after the last change; so the first may be before the cause, which BFD notices
  // late.
  std::uint64_t lost = 0;
  std::int64_t first_lost_ns = -1;  // -1: none
  std::int64_t last_lost_ns = -1;
  std::uint64_t reordered = 0;  // packets that receivers have had out of order, until the next one begins
};

}  // namespace railyard::rerouting
