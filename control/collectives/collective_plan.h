// Collective operations as programs of their ranks, algorithm by algorithm. Pure: no lab, no time.
#pragma once

#include <cstdint>
#include <vector>

#include "control/collectives/protocol.h"
#include "control/collectives/reduction.h"
#include "control/collectives/registry.h"
#include "dataplane/base/time.h"
#include "transports/base/rank_program.h"

namespace railyard::collectives {

// What a plan is made from. Sizes mean what they mean to nccl-tests (OperationTraits::size_means).
struct CollectiveShape {
  Operation operation = Operation::kAllReduce;
  const Algorithm* algorithm = nullptr;  // nullptr: the usual one of the operation
  std::uint64_t size = 0;        // octets
  std::uint32_t element = 4;     // octets
  std::uint32_t chunk = 524'288;  // the most octets of a message, a multiple of `element`
  std::uint32_t channels = 1;
  std::uint32_t root = 0;              // of operations that have one
  // All-to-all of unequal parts: octets from rank r to rank q at [r * ranks + q], in whole elements; `size` is what the
  // rank that sends most sends, its own part included. Empty: all parts are equal.
  std::vector<std::uint64_t> matrix{};
  std::vector<std::uint32_t> group{};  // by rank: where it is (a rack, a host), for hierarchical algorithms
  // By rank, of hosts with scale-up networks (PlanBuilder::set_places); empty: there are none. Rings then go through a
  // network's ranks one after the other, and leave it and come to it at another NIC in each channel; trees are between
  // networks, and chains within them. What NCCL calls a clique (MNNVL) is a network of several hosts.
  std::vector<std::uint32_t> host{};
  std::vector<std::uint32_t> rail{};
  std::vector<std::uint32_t> tray{};
  ReductionNetwork reduction{};  // of algorithms that are in switches
  bool pxn = false;  // across hosts and rails by way of the rank at the destination's rail
  // Of each message that comes, its steps' time (CollectiveStep::time); `launch` is the ranks' (CollectiveConfig).
  ProtocolCosts costs{};
  // All-reduce, of a step of training: each rank computes so long before the backward pass and in it, and in the latter
  // the data are there bucket by bucket, each an all-reduce of its own. All 0: they are there at the beginning.
  Duration forward{};
  Duration backward{};
  std::uint32_t buckets = 1;
  // By rank: how many times as long computing takes it. Empty: all are alike.
  std::vector<double> slowness{};

  bool operator==(const CollectiveShape&) const = default;

  // Of a rank: a number that those at one NIC of a network share, and those at the same place of other networks.
  std::uint64_t nic_in_network(std::uint32_t rank) const {
    return (tray.empty() ? 0 : std::uint64_t{tray[rank]} << 32) | rail[rank];
  }

  const Algorithm& used_algorithm() const {
    return algorithm != nullptr ? *algorithm : *algorithms(operation).front();
  }
};

// The programs of `ranks` ranks, at least 2, and behind them those of the reducers that the shape has. The shape is one that spec::check_collectives() lets pass.
std::vector<RankProgram> plan_collective(const CollectiveShape& shape, std::uint32_t ranks);

// Of this collective: that of its operation; of an all-to-all of unequal parts, where the rank that sends or gets most
// from others has so much of `size`. With equal parts both are the same.
double busbw_factor(const CollectiveShape& shape, std::uint32_t ranks);

}  // namespace railyard::collectives
