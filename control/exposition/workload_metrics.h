// Flows and collectives as metrics: in sums of what is alike, so that a thousand flows are not a thousand series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/build/built_lab.h"
#include "control/exposition/exposition.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/time.h"

namespace railyard::exposition {

// What has become of traffic so far.
struct Workload {
  // Flows of one transport in one class.
  struct Flows {
    std::string_view transport;  // "roce", "uet", "none": traffic generators
    int priority = 0;
    std::uint64_t waiting = 0;   // not begun
    std::uint64_t active = 0;
    std::uint64_t complete = 0;
    std::uint64_t failed = 0;    // for good
    std::uint64_t sent_octets = 0;       // of payload; retransmissions count again
    std::uint64_t delivered_octets = 0;  // of payload, each once
    std::uint64_t retransmitted = 0;     // packets
    std::uint64_t reordered = 0;         // packets
    Histogram latency;     // of packets, ps
    Histogram completion;  // of flows that are complete, ps from their start
  };
  struct Collective {
    std::string name;
    std::uint64_t started = 0;  // repeats, by any rank
    std::uint64_t done = 0;     // by all ranks
    double progress = 0;        // of all ranks' repeats that are asked for, 0 to 1
    // Of the last repeat that is done, bytes/s; nothing: none is, or it has no size (steps that only compute).
    std::optional<double> algbw{};
    std::optional<double> busbw{};
    Histogram times;  // of repeats that are done, ps
  };
  // How routing has reacted (control/rerouting/).
  struct Routing {
    std::uint64_t reroutings = 0;
    std::uint64_t table_changes = 0;
    std::uint64_t routes = 0;
    std::uint64_t lost = 0;
    bool at_rest = true;
    double last_convergence_seconds = 0;  // from the first cause to the last change of a table
    double convergence_seconds = 0;       // of all reroutings
  };
  struct Deadlocks {
    std::uint64_t seen = 0;
    std::uint64_t now = 0;
  };

  std::vector<Flows> flows;
  std::vector<Collective> collectives;  // the first kMostCollectives of the file
  Routing routing;
  std::optional<Deadlocks> deadlocks;   // nothing: nobody looks (run.deadlock)

  static constexpr std::size_t kMostCollectives = 100;
};

// Of a lab that rests; `now`: the instant that it has reached. Flows and collectives alone.
Workload count_workload(const build::BuiltLab& lab, Instant now);

void add_workload(Exposition& out, const Workload& workload);

}  // namespace railyard::exposition
