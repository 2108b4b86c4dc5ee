// What the ranks of a job do, as a graph: computing, sending, receiving, and what each waits for. Readers of traces make
// it; compile() makes the programs that ranks carry out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "control/collectives/operation.h"
#include "control/collectives/protocol.h"
#include "dataplane/base/time.h"

namespace railyard::jobs {

struct Operation {
  enum class Kind : std::uint8_t { kCompute, kSend, kReceive, kCollective };
  Kind kind = Kind::kCompute;
  // kCompute: nothing is computed meanwhile. The time passes until something is to happen, such as a request's arrival.
  bool idle = false;
  std::uint8_t stream = 0;   // kCompute: those of one stream of a rank go one after the other, in the order in which they could
  std::uint32_t peer = 0;    // rank that it sends to or receives from
  std::uint32_t tag = 0;
  std::uint64_t octets = 0;  // kSend, kReceive
  Duration time{};           // kCompute
  std::uint32_t collective = 0;  // kCollective: this rank's part in JobGraph::collectives[collective]
  std::uint32_t label = 0;   // what it is called: JobGraph::labels[label]
  int line = 0;              // of the trace
  // JobGraph::occasions: in which repeats of the graph it goes; in others it is done at once. 0: in each. Both ends of a
  // message have the same one, and so have all parts of a collective.
  std::uint32_t occasion = 0;
  // Operations of the same rank, by number. It starts when all of `after` are done, and when all of `with` have started.
  std::vector<std::uint32_t> after{};
  std::vector<std::uint32_t> with{};

  // Its time is the rank's work (CollectiveStep::computes()).
  bool computes() const noexcept { return kind == Kind::kCompute && !idle; }
  bool operator==(const Operation&) const = default;
};

// A collective operation of some of the ranks, once. Each of them has one Operation of it; it sends nothing before that
// starts, and that is done when the rank's part is done.
struct Collective {
  collectives::Operation operation = collectives::Operation::kAllReduce;
  const collectives::Algorithm* algorithm = nullptr;  // nullptr: the usual one
  // What NCCL took, if the trace knows; else kNone. Of interest where the lab asks for NCCL's choice.
  collectives::Protocol protocol = collectives::Protocol::kNone;
  std::uint32_t communicator = 0;  // JobGraph::communicators: its ranks, in their order
  std::uint64_t octets = 0;        // as nccl-tests counts it (collectives::OperationTraits::size_means)
  std::uint32_t root = 0;          // place in the communicator
  // All-to-all of unequal parts: from each place to each, in whole elements of 4 octets (CollectiveShape::matrix).
  std::vector<std::uint64_t> matrix{};
  std::uint32_t channels = 0;      // 0: the usual number
  int line = 0;

  bool operator==(const Collective&) const = default;
};

struct JobGraph {
  std::vector<std::vector<Operation>> ranks;
  std::vector<Collective> collectives{};
  std::vector<std::vector<std::uint32_t>> communicators{};  // ranks, each once, at least two
  std::vector<std::string> labels{""};                      // Operation::label; the first is of those without a name
  std::vector<std::vector<std::uint32_t>> occasions{{}};    // by Operation::occasion: repeats from 0, ascending

  bool goes(const Operation& o, std::uint32_t repeat) const noexcept {
    return o.occasion == 0 || std::ranges::binary_search(occasions[o.occasion], repeat);
  }
  // The first repeat of the most frequent kind: repeats are of one kind if the same goes in them. Of kinds that are as frequent,
  // that of the fewest occasions.
  std::uint32_t ordinary(std::uint32_t repeats) const;
  std::size_t operations() const noexcept;
  // Of all sends of each repeat together, as they are sent (see message_octets). Not those of collectives.
  std::uint64_t octets() const noexcept;
  bool operator==(const JobGraph&) const = default;
};

// What goes in one repeat: the rest is computing of 0 ns. All of it goes in each repeat.
JobGraph of_repeat(const JobGraph& graph, std::uint32_t repeat);

// Of all sends and all collectives of each repeat, the latter as nccl-tests counts them.
std::uint64_t total_octets(const JobGraph& graph) noexcept;

// What operation `i` of a rank waits for, by number, each once: `after` of it, and of all that it starts with.
std::vector<std::uint32_t> requirements(const std::vector<Operation>& rank, std::uint32_t i);

// What is wrong with a trace, in which line of it; 0: with all of it.
struct TraceError {
  int line = 0;
  std::string text;
};

// Messages are whole elements of four octets, at least one, so that their contents can be compared.
// DEVIATION: from what a trace says, by up to three octets.
std::uint64_t message_octets(std::uint64_t octets) noexcept;
// So are the blocks of a collective: what it has in fact, at least an element of each rank.
std::uint64_t collective_octets(const JobGraph& graph, const Collective& collective) noexcept;

// By rank and operation: the number of the operation at the other end of a message; of others its own.
using Matches = std::vector<std::vector<std::uint32_t>>;

// The n-th send of a rank to another with a tag belongs to the n-th receive there of that rank and tag (MPI's order). Errors:
// a peer that is not there or the rank itself; a message that only one end has, or that is larger than what is received;
// a collective that not each rank of its communicator has once; operations that wait for each other in a circle, over ranks
// or within one.
std::expected<Matches, TraceError> check(const JobGraph& graph);

}  // namespace railyard::jobs
