// The collective operations, as nccl-tests knows them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace railyard::collectives {

enum class Operation { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kAllToAll };
inline constexpr std::array kOperations{Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                                        Operation::kBroadcast, Operation::kAllToAll};

// As a fabric file spells it.
std::string_view name(Operation operation) noexcept;

// What nccl-tests multiplies algbw (size over time) by: busbw compares with the rate of a link at any number of ranks.
// doc/PERFORMANCE.md there: all-reduce 2(n-1)/n; reduce-scatter, all-gather and all-to-all (n-1)/n; broadcast 1.
double busbw_factor(Operation operation, std::uint32_t ranks);

}  // namespace railyard::collectives
