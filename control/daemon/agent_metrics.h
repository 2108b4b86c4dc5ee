// Flows and collectives of agents as metrics, in sums that never go back although each may be run again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/exposition/workload_metrics.h"
#include "control/report/collective_report.h"
#include "control/report/report.h"

namespace railyard::daemon {

// One thread at a time.
class AgentMetrics {
 public:
  // Adds what `flows` and `collectives` have done to `to`. Flows are in a group of their own for each class, with the
  // transport "roce/agents". Of a flow that was run again, what it did between the last call and its end is not counted.
  void add(const std::vector<report::FlowReport>& flows, const std::vector<report::CollectiveReport>& collectives,
           exposition::Workload& to);

 private:
  struct Seen {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t retransmitted = 0;
    std::uint64_t reordered = 0;
    std::int64_t completed_from = -1;  // the start of the last run whose completion was recorded
  };

  std::map<std::string, Seen> seen_;                        // by flow, at the last call
  std::map<int, exposition::Workload::Flows> by_priority_;  // so far
};

}  // namespace railyard::daemon
