// Links that were taken down and brought up by hand, as the fault log of a run has it: what one did to a live lab can be
// replayed by `railyard run --replay`.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "control/fault/fault_log.h"
#include "dataplane/base/time.h"

namespace railyard::daemon {

// The engine's thread adds; any thread reads.
class LinkLog {
 public:
  // The link at `port` ("leaf1:3") goes down or comes up at `effective`.
  void add(const std::string& port, bool up, Instant effective);
  // Faults "down" that do the same, in order: each with a name of its own, "link-down-1" and so on.
  std::vector<fault::LoggedEvent> events() const;

 private:
  mutable std::mutex mutex_;
  std::vector<fault::LoggedEvent> events_;
  std::map<std::string, std::string> down_;  // by port: the name of its fault
  int count_ = 0;
};

}  // namespace railyard::daemon
