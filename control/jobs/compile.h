// The programs that the ranks of a job carry out.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "control/collectives/collective_plan.h"
#include "control/jobs/job_graph.h"
#include "transports/base/rank_program.h"

namespace railyard::jobs {

struct CompileOptions {
  // The most octets of a message, a multiple of 4; larger ones go in several. Collectives within one host's scale-up network
  // have messages as large as their algorithm makes them.
  std::uint32_t chunk = 524'288;
  // By rank, as in collectives::CollectiveShape: ranks of one host use its scale-up network; their NICs' rails; and their
  // leaves, by which hierarchical algorithms go where there are no such hosts. Each may be empty.
  std::vector<std::uint32_t> host{};
  std::vector<std::uint32_t> rail{};
  std::vector<std::uint32_t> tray{};
  std::vector<std::uint32_t> leaf{};
  // What is asked for, of those collectives that it does and whose ranks allow it; nullptr: none. If switches do it, those that
  // reduce, by rank of the job: their programs are behind those of the ranks.
  const collectives::Algorithm* algorithm = nullptr;
  collectives::ReductionNetwork reduction{};
  std::vector<double> slowness{};     // by rank: how many times as long computing takes it; empty: all are alike
  // NCCL's protocol of all collectives, or as it chooses for each (kAuto: what the trace says it took, else its model); sends are Simple, or LL if they are small (kAuto).
  collectives::Protocol protocol = collectives::Protocol::kNone;
  bool step_costs = true;    // messages cost what the protocol says
  double scale_up_rate = 0;  // GB/s of each rank; 0: there is none
  Duration scale_up_latency{};
  double nic_rate = 0;       // GB/s of each NIC
};

// Which steps of a rank's program belong to which of its operations.
struct OperationSteps {
  std::vector<std::uint32_t> of_step;  // by step: its operation; CollectiveStep::kNone: it only joins others
  std::vector<std::uint32_t> done;     // by operation: the step by which it is done
};

// `matches`: what check() says of the graph.
//
// A send is a message into memory of its own at the receiver, so it does not wait for the receive; it is done when it is
// acknowledged. A receive is done when all of the message is there and what it requires is done. What is to start with
// another operation waits for what that one requires. DEVIATION: LogGOPSim's large messages wait for their receive
// (rendezvous), and a calc has started only when its CPU is free.
//
// A collective is carried out as collectives::plan_collective() plans it for its ranks; two that are the same at the same
// ranks use other memory and the same connections. A reducer's part of it has no operation: it follows from what ranks send.
//
// `steps`: by rank, and of reducers, for those who want to know; nullptr: nobody does.
std::vector<RankProgram> compile(const JobGraph& graph, const Matches& matches, const CompileOptions& options,
                                 std::vector<OperationSteps>* steps = nullptr);

// Of a collective of the graph: as compile() plans it, its ranks numbered by their places in the communicator.
collectives::CollectiveShape shape_of(const JobGraph& graph, const Collective& collective, const CompileOptions& options);

// The same of many: those that are alike are planned once.
class Shapes {
 public:
  // Both outlive it.
  Shapes(const JobGraph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  // Valid until the next call.
  const collectives::CollectiveShape& of(const Collective& collective);

 private:
  // Communicator, operation, algorithm, protocol, octets, root, channels.
  using Kind = std::tuple<std::uint32_t, collectives::Operation, const collectives::Algorithm*, collectives::Protocol,
                          std::uint64_t, std::uint32_t, std::uint32_t>;

  const JobGraph& graph_;
  const CompileOptions& options_;
  std::map<Kind, collectives::CollectiveShape> known_;
  collectives::CollectiveShape last_;
};

// Messages of the programs that compile() would make, about.
double messages(const JobGraph& graph, const CompileOptions& options);

}  // namespace railyard::jobs
