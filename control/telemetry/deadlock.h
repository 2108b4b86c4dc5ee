// Deadlocks: queues that wait for each other in a circle, paused by PFC or without credits (Hu et al., "Deadlocks in Datacenter Networks",
// HotNets 2016; the circle is one of the buffer dependency graph).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/telemetry/pause_graph.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

// Each of the ring waits for the next, the last for the first; it begins with the least.
struct Deadlock {
  Instant since;  // when the last of them was paused
  std::vector<PortClass> ring;
};

// The circles of queues that have all been paused, and so have sent nothing, for at least `least` without a break. Of
// circles that share queues, one.
std::vector<Deadlock> find_deadlocks(const PauseGraph& graph, Duration least);

// Keeps what find_deadlocks() finds from one look to the next.
class DeadlockWatch {
 public:
  struct Seen {
    std::vector<std::string> ring;   // "leaf1:9 class 3"
    Instant since;                   // nothing has left any of its queues
    Instant seen;                    // when it was first seen
    std::optional<Instant> resolved; // when it was first not there any more
  };

  explicit DeadlockWatch(Duration least) noexcept : least_(least) {}

  // Looks at a lab that rests. Looks come in order of time.
  void look(build::BuiltLab& lab) { look(lab, pause_graph(lab)); }
  void look(const build::BuiltLab& lab, const PauseGraph& graph);

  // In the order in which they were seen.
  const std::vector<Seen>& seen() const noexcept { return seen_; }

 private:
  Duration least_;
  std::vector<Seen> seen_;
};

}  // namespace railyard::telemetry
