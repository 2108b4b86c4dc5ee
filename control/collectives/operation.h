// The collective operations, as nccl-tests knows them; and a barrier, as MPI has it. One row of a table each: keys, checks
// and reports go by it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace railyard::collectives {

enum class Operation {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSendRecv,
  kBarrier,
};
inline constexpr std::array kOperations{
    Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather, Operation::kBroadcast, Operation::kReduce,
    Operation::kGather,    Operation::kScatter,       Operation::kAllToAll,  Operation::kSendRecv,  Operation::kBarrier};

struct OperationTraits {
  // As a fabric file spells it; and the program of nccl-tests that measures it, "" if none does.
  std::string_view name;
  std::string_view nccl_test;
  // What `size` is (nccl-tests, doc/PERFORMANCE.md).
  std::string_view size_means;
  // One rank has the data first, or gets them (`root`).
  bool has_root = false;
  // `size` consists of a block for each rank.
  bool by_blocks = false;
  // Results are sums of what the ranks have.
  bool sums = false;
  // Each rank has what it sends, and in a buffer of its own what it gets.
  bool two_buffers = false;
};

const OperationTraits& traits(Operation operation) noexcept;
inline std::string_view name(Operation operation) noexcept { return traits(operation).name; }

// What nccl-tests multiplies algbw (size over time) by: busbw compares with the rate of a link at any number of ranks.
// doc/PERFORMANCE.md there: all-reduce 2(n-1)/n; reduce-scatter, all-gather, gather, scatter and all-to-all (n-1)/n;
// broadcast, reduce and send-recv 1. A barrier has no data: 0.
double busbw_factor(Operation operation, std::uint32_t ranks);

}  // namespace railyard::collectives
