// What the ranks of a job do, as a graph: computing, sending, receiving, and what each waits for. Readers of traces make
// it; compile() makes the programs that ranks carry out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard::jobs {

struct Operation {
  enum class Kind : std::uint8_t { kCompute, kSend, kReceive };
  Kind kind = Kind::kCompute;
  std::uint8_t stream = 0;   // kCompute: those of one stream of a rank go one after the other, in the order in which they could
  std::uint32_t peer = 0;    // rank that it sends to or receives from
  std::uint32_t tag = 0;
  std::uint64_t octets = 0;
  Duration time{};           // kCompute
  int line = 0;              // of the trace
  // Operations of the same rank, by number. It starts when all of `after` are done, and when all of `with` have started.
  std::vector<std::uint32_t> after{};
  std::vector<std::uint32_t> with{};

  bool operator==(const Operation&) const = default;
};

struct JobGraph {
  std::vector<std::vector<Operation>> ranks;

  std::size_t operations() const noexcept;
  // Of all messages together, as they are sent (see message_octets).
  std::uint64_t octets() const noexcept;
  bool operator==(const JobGraph&) const = default;
};

// What is wrong with a trace, in which line of it; 0: with all of it.
struct TraceError {
  int line = 0;
  std::string text;
};

// Messages are whole elements of four octets, at least one, so that their contents can be compared.
// DEVIATION: from what a trace says, by up to three octets.
std::uint64_t message_octets(std::uint64_t octets) noexcept;

// By rank and operation: the number of the operation at the other end of a message; of computing its own.
using Matches = std::vector<std::vector<std::uint32_t>>;

// The n-th send of a rank to another with a tag belongs to the n-th receive there of that rank and tag (MPI's order). Errors:
// a peer that is not there or the rank itself; a message that only one end has, or that is larger than what is received;
// operations that wait for each other in a circle, over ranks or within one.
std::expected<Matches, TraceError> check(const JobGraph& graph);

}  // namespace railyard::jobs
