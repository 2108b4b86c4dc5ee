// Traces in GOAL, the schedule language of LogGOPSim and ATLAHS (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly
// Language - A Flexible Way to Express Collective Communication", ICPP 2009).
#pragma once

#include <expected>
#include <string_view>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// The text form: `num_ranks N`, then `rank R { ... }` with lines
//
//   [LABEL:] calc NANOSECONDS [cpu N]
//   [LABEL:] send BYTESb to RANK [tag N] [cpu N] [nic N]
//   [LABEL:] recv BYTESb from RANK [tag N] [cpu N] [nic N]
//   LABEL requires LABEL       starts when that is done
//   LABEL irequires LABEL      starts when that has started
//
// and // and /* */ comments. `cpu` is the stream of a calc; of messages, `cpu` and `nic` mean nothing here: their rank's NIC
// sends them. Receives from any rank or tag (-1) are refused: who sends would have to be known.
// The graph is not checked yet (check()).
std::expected<JobGraph, TraceError> read_goal(std::string_view text);

}  // namespace railyard::jobs
