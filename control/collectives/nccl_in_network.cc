#include "control/collectives/nccl_in_network.h"

#include <algorithm>
#include <limits>

#include "control/collectives/registry.h"

namespace railyard::collectives {
namespace {

// us: hwLatencies of NVLS (NVLink; network besides) and CollNetDirect, and of a tree between hosts of one rank; and of
// each rank of a host to be served in turn.
constexpr double kNvls = 25, kNvlsBetween = 18, kCollNet = 31, kCollNetInHost = 3.7, kTreeBetween = 14, kTurn = 0.4;
// nvlsEfficiency of Hopper, less one of 16 channels.
constexpr double kNvlsShare = 0.85 * 15 / 16;
// What CollNetDirect reaches from Hopper on, and what of a NIC NCCL's search takes (protocol.cc).
constexpr double kCollNetShare = 0.85, kNicShare = 0.96;

double ranks_of_host(const NcclSystem& s) noexcept { return static_cast<double>(s.ranks) / s.hosts; }

}  // namespace

double nccl_in_network_latency(const NcclSystem& s) noexcept {
  if (s.hosts == 1) return kNvls;
  const double others = ranks_of_host(s) - 1;
  return (others > 0 ? kCollNet : kTreeBetween) + 2 * (std::min(1.0, others) * kCollNetInHost + others * kTurn);
}

double nccl_in_network_time(Operation operation, std::uint64_t octets, const NcclSystem& s,
                            NcclReduction reduction) noexcept {
  constexpr double kNever = -1;
  const bool one = s.hosts == 1, all_reduce = operation == Operation::kAllReduce;
  const bool half_of_one = operation == Operation::kReduceScatter || operation == Operation::kAllGather;
  if (s.ranks < 2 || !(one ? reduction.scale_up : reduction.network)) return kNever;
  if (!all_reduce && !(one && half_of_one)) return kNever;
  const double n = s.ranks;
  const double in_host = s.scale_up > 0 ? s.scale_up * kScaleUpShare : std::numeric_limits<double>::infinity();
  const double between = one ? std::numeric_limits<double>::infinity() : kNicShare * s.network;
  double latency = nccl_in_network_latency(s), bw = 0;
  if (reduction.scale_up && ranks_of_host(s) > 1) {
    if (!one) latency = kNvls + kNvlsBetween;
    // Up and down at once.
    bw = all_reduce ? std::min(2 * kNvlsShare * in_host, between) * n / (2 * (n - 1))
                    : kNvlsShare * in_host * (n - 1) / n;
  } else {
    bw = 0.5 * kCollNetShare * std::min(ranks_of_host(s) > 1 ? in_host : between, between);
  }
  if (!(bw > 0) || bw > 1e9) return kNever;
  return latency + static_cast<double>(octets) / (1e3 * bw);
}

ProtocolChoice nccl_choice(Operation operation, const Algorithm* algorithm, std::uint64_t octets,
                           const NcclSystem& system, NcclReduction reduction) {
  const ProtocolChoice best = nccl_choice(operation, algorithm, octets, system);
  if (algorithm != nullptr) return best;
  const double time = nccl_in_network_time(operation, octets, system, reduction);
  const double other = nccl_time(best.protocol, *best.algorithm, operation, octets, system);
  return time >= 0 && other >= 0 && time < other ? ProtocolChoice{&kInNetwork, Protocol::kSimple} : best;
}

}  // namespace railyard::collectives
