// The programs that the ranks of a job carry out.
#pragma once

#include <cstdint>
#include <vector>

#include "control/jobs/job_graph.h"
#include "transports/base/rank_program.h"

namespace railyard::jobs {

struct CompileOptions {
  std::uint32_t chunk = 524'288;      // the most octets of a message, a multiple of 4; larger ones go in several
  std::vector<std::uint32_t> host{};  // by rank, as in collectives::CollectiveShape: ranks of one use its scale-up network
  std::vector<double> slowness{};     // by rank: how many times as long computing takes it; empty: all are alike
};

// `matches`: what check() says of the graph.
//
// A send is a message into memory of its own at the receiver, so it does not wait for the receive; it is done when it is
// acknowledged. A receive is done when all of the message is there and what it requires is done. What is to start with
// another operation waits for what that one requires. DEVIATION: LogGOPSim's large messages wait for their receive
// (rendezvous), and a calc has started only when its CPU is free.
std::vector<RankProgram> compile(const JobGraph& graph, const Matches& matches, const CompileOptions& options);

}  // namespace railyard::jobs
