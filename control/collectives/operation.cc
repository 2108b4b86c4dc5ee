#include "control/collectives/operation.h"

#include <cstddef>

namespace railyard::collectives {
namespace {

// In the order of Operation.
constexpr std::array<OperationTraits, kOperations.size()> kTraits{{
    {.name = "all-reduce", .nccl_test = "all_reduce_perf", .size_means = "each rank's buffer", .sums = true},
    {.name = "reduce-scatter", .nccl_test = "reduce_scatter_perf", .size_means = "each rank's input", .by_blocks = true, .sums = true},
    {.name = "all-gather", .nccl_test = "all_gather_perf", .size_means = "each rank's output", .by_blocks = true},
    {.name = "broadcast", .nccl_test = "broadcast_perf", .size_means = "each rank's buffer", .has_root = true},
    {.name = "reduce", .nccl_test = "reduce_perf", .size_means = "each rank's buffer", .has_root = true, .sums = true},
    {.name = "gather", .nccl_test = "gather_perf", .size_means = "the root's output", .has_root = true, .by_blocks = true},
    {.name = "scatter", .nccl_test = "scatter_perf", .size_means = "the root's input", .has_root = true, .by_blocks = true},
    {.name = "all-to-all",
     .nccl_test = "alltoall_perf",
     .size_means = "data that each rank sends, its own part included",
     .by_blocks = true,
     .two_buffers = true},
    {.name = "send-recv",
     .nccl_test = "sendrecv_perf",
     .size_means = "data that each rank sends to the next one",
     .two_buffers = true},
    {.name = "barrier", .nccl_test = "", .size_means = "nothing; leave it out"},
}};

}  // namespace

const OperationTraits& traits(Operation operation) noexcept { return kTraits[static_cast<std::size_t>(operation)]; }

double busbw_factor(Operation operation, std::uint32_t ranks) {
  const double n = ranks;
  switch (operation) {
    case Operation::kAllReduce:
      return 2 * (n - 1) / n;
    case Operation::kReduceScatter:
    case Operation::kAllGather:
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kAllToAll:
      return (n - 1) / n;
    case Operation::kBroadcast:
    case Operation::kReduce:
    case Operation::kSendRecv:
      return 1;
    case Operation::kBarrier:
      break;
  }
  return 0;
}

}  // namespace railyard::collectives
