// NCCL's protocols: what they cost, and which NCCL chooses.
#include "control/collectives/protocol.h"

#include <vector>

#include <gtest/gtest.h>

#include "control/collectives/collective_plan.h"
#include "control/collectives/nccl_in_network.h"
#include "control/collectives/registry.h"
#include "control/collectives/scale_up_latency.h"
#include "control/collectives/scale_up_share.h"

namespace railyard::collectives {
namespace {

// GB/s: eight H100 in each host, a NIC of 400 Gb/s each.
NcclSystem h100(std::uint32_t hosts) { return {.ranks = 8 * hosts, .hosts = hosts, .scale_up = 450, .network = 400}; }

double us(Duration d) { return static_cast<double>(d.ps) / 1e6; }

TEST(Protocol, NoneCostsNothing) {
  EXPECT_EQ(protocol_costs(Protocol::kNone, kRing, Operation::kAllReduce, h100(4), 8), ProtocolCosts{});
  EXPECT_EQ(octets_on_wire(Protocol::kNone, 4096, 4), 4096u);
}

// LL: 4 of 8 octets are data; LL128: 120 of 128. In whole elements of each block.
TEST(Protocol, FlagsGoOverTheWireAsWell) {
  EXPECT_EQ(octets_on_wire(Protocol::kSimple, 1'048'576, 4), 1'048'576u);
  EXPECT_EQ(octets_on_wire(Protocol::kLl, 1'048'576, 4), 2'097'152u);
  EXPECT_EQ(octets_on_wire(Protocol::kLl128, 120 * 1024, 4), 128 * 1024u);
  EXPECT_EQ(octets_on_wire(Protocol::kLl128, 4, 32), 32u);
}

// tuning.cc, one host: base and 2 (n - 1) steps over NVLink.
TEST(Protocol, ARingInAHostTakesWhatTheModelSays) {
  const ProtocolCosts c = protocol_costs(Protocol::kSimple, kRing, Operation::kAllReduce, h100(1), 1);
  EXPECT_DOUBLE_EQ(us(c.launch), 8.4 + 14 * 3.4);
  EXPECT_EQ(c.scale_up_step, Duration{});
  EXPECT_NEAR(nccl_time(Protocol::kSimple, kRing, Operation::kAllReduce, 64, h100(1)), 8.4 + 14 * 3.4, 1e-3);
}

// Between hosts: 2 (N - 1) steps of 14 us, the others of 3.4 us, all of it times 1.4.
TEST(Protocol, ARingBetweenHostsTakesWhatTheModelSays) {
  for (const std::uint32_t hosts : {2u, 4u, 16u}) {
    const double n = 8 * hosts, steps = 2 * (n - 1), between = 2.0 * (hosts - 1);
    const double model = 1.4 * (8.4 + (steps - between) * 3.4 + between * 14);
    EXPECT_NEAR(nccl_time(Protocol::kSimple, kRing, Operation::kAllReduce, 64, h100(hosts)), model, 1e-3);
    const ProtocolCosts c = protocol_costs(Protocol::kSimple, kRing, Operation::kAllReduce, h100(hosts), 8);
    EXPECT_NEAR(us(c.launch), model, 0.01);
    EXPECT_EQ(c.step, Duration{});
  }
}

// NCCL's steps have the scale-up network's latency in them, and so have messages: of 30 links of the ring, 26.25 on average
// are in hosts.
TEST(Protocol, TheScaleUpNetworksLatencyCountsOnce) {
  const auto of = [](const Algorithm& a, Duration latency) {
    return without_scale_up_latency(protocol_costs(Protocol::kSimple, a, Operation::kAllReduce, h100(2), 8), a,
                                    Operation::kAllReduce, h100(2), latency);
  };
  constexpr Duration kHalf{500'000}, kLong{1'000'000'000};
  EXPECT_NEAR(us(of(kRing, Duration{}).launch) - us(of(kRing, kHalf).launch), 26.25 * 0.5, 0.01);
  EXPECT_DOUBLE_EQ(us(of(kTree, kHalf).scale_up_step), 3.5);
  EXPECT_DOUBLE_EQ(us(of(kTree, kHalf).step), 14);
  EXPECT_EQ(of(kRing, kLong).launch, Duration{});
  EXPECT_EQ(of(kTree, kLong).scale_up_step, Duration{});
}

TEST(Protocol, ATreeTakesItsDepth) {
  const ProtocolCosts c = protocol_costs(Protocol::kLl, kTree, Operation::kAllReduce, h100(16), 1);
  EXPECT_DOUBLE_EQ(us(c.step), 5);
  EXPECT_NEAR(nccl_time(Protocol::kLl, kTree, Operation::kAllReduce, 8, h100(16)),
              us(c.launch) + 2 * (7 * us(c.scale_up_step) + 4 * us(c.step)), 0.01);
}

// Others than rings are not as long as rings: each of their messages has its cost.
TEST(Protocol, OtherAlgorithmsPayForEachMessage) {
  const ProtocolCosts c = protocol_costs(Protocol::kSimple, kHalvingDoubling, Operation::kAllReduce, h100(4), 1);
  EXPECT_DOUBLE_EQ(us(c.launch), 8.4);
  EXPECT_DOUBLE_EQ(us(c.step), 14);
  EXPECT_DOUBLE_EQ(us(c.scale_up_step), 3.4);
}

// One H100 host: NVLS takes 25 us, and its octets go up and down at 0.85 x 15/16 of 360 GB/s at once.
TEST(Protocol, SwitchesOfAScaleUpNetworkTakeWhatTheModelSaysOfNvls) {
  const NcclReduction nvls{.scale_up = true};
  EXPECT_NEAR(nccl_in_network_time(Operation::kAllReduce, 64, h100(1), nvls), 25, 1e-2);
  const double busbw = 2 * 0.85 * 15 / 16 * 360;
  EXPECT_NEAR(nccl_in_network_time(Operation::kAllReduce, 1'000'000'000, h100(1), nvls), 25 + 1e6 / (busbw * 8 / 14), 1);
  EXPECT_NEAR(nccl_in_network_time(Operation::kAllGather, 1'000'000'000, h100(1), nvls), 25 + 1e6 / (busbw / 2 * 7 / 8), 1);
  EXPECT_LT(nccl_in_network_time(Operation::kBroadcast, 64, h100(1), nvls), 0);
  EXPECT_LT(nccl_in_network_time(Operation::kAllReduce, 64, h100(2), nvls), 0) << "NVLSTree";
  EXPECT_DOUBLE_EQ(us(protocol_costs(Protocol::kSimple, kInNetwork, Operation::kAllReduce, h100(1), 1).launch), 25);
}

TEST(Protocol, SwitchesBetweenHostsTakeWhatTheModelSaysOfCollNet) {
  const NcclReduction collnet{.network = true}, both{.scale_up = true, .network = true};
  EXPECT_NEAR(nccl_in_network_time(Operation::kAllReduce, 64, h100(4), collnet), 31 + 2 * (3.7 + 7 * 0.4), 1e-2);
  EXPECT_NEAR(nccl_in_network_time(Operation::kAllReduce, 64, h100(4), both), 43, 1e-2);
  EXPECT_NEAR(nccl_in_network_time(Operation::kAllReduce, 64, {.ranks = 4, .hosts = 4, .network = 50}, collnet), 14, 1e-2);
  EXPECT_LT(nccl_in_network_time(Operation::kAllGather, 64, h100(4), both), 0);
  EXPECT_LT(nccl_in_network_time(Operation::kAllReduce, 64, h100(4), {}), 0);
}

// Small ones are quicker with LL, large ones in the switches; an algorithm that is said stays.
TEST(Protocol, SwitchesAreChosenWhereTheyAreQuicker) {
  const NcclReduction nvls{.scale_up = true};
  const auto of = [&](std::uint64_t octets, const Algorithm* said, NcclReduction reduction) {
    return nccl_choice(Operation::kAllReduce, said, octets, h100(1), reduction);
  };
  EXPECT_EQ(of(1024, nullptr, nvls), nccl_choice(Operation::kAllReduce, nullptr, 1024, h100(1)));
  EXPECT_EQ(of(1'073'741'824, nullptr, nvls), (ProtocolChoice{&kInNetwork, Protocol::kSimple}));
  EXPECT_EQ(of(1'073'741'824, nullptr, {}).algorithm, &kRing);
  EXPECT_EQ(of(1'073'741'824, &kRing, nvls).algorithm, &kRing);
}

// As rings grow longer, trees are chosen for larger sizes; large ones are Simple.
TEST(Protocol, OfAnAllReduceFollowsItsSize) {
  for (const std::uint32_t hosts : {2u, 4u, 16u, 64u}) {
    EXPECT_EQ(nccl_choice(Operation::kAllReduce, nullptr, 1024, h100(hosts)), (ProtocolChoice{&kTree, Protocol::kLl}));
    EXPECT_EQ(nccl_choice(Operation::kAllReduce, nullptr, 8'589'934'592, h100(hosts)).protocol, Protocol::kSimple);
  }
  EXPECT_EQ(nccl_choice(Operation::kAllReduce, nullptr, 8'589'934'592, h100(4)).algorithm, &kRing);
  std::vector<std::uint64_t> last_tree;
  for (const std::uint32_t hosts : {4u, 16u, 64u}) {
    last_tree.push_back(0);
    for (std::uint64_t size = 1024; size <= 1ull << 37; size *= 2)
      if (nccl_choice(Operation::kAllReduce, nullptr, size, h100(hosts)).algorithm == &kTree) last_tree.back() = size;
  }
  EXPECT_LT(last_tree[0], last_tree[1]);
  EXPECT_LT(last_tree[1], last_tree[2]);
}

TEST(Protocol, IsThatOfTheAlgorithmThatTheLabSays) {
  const ProtocolChoice c = nccl_choice(Operation::kAllReduce, &kRing, 1024, h100(4));
  EXPECT_EQ(c.algorithm, &kRing);
  EXPECT_EQ(c.protocol, Protocol::kLl);
  EXPECT_EQ(nccl_choice(Operation::kAllGather, nullptr, 1 << 30, h100(4)), (ProtocolChoice{&kRing, Protocol::kSimple}));
}

// NCCL_P2P_LL_THRESHOLD: 16 KiB for each peer.
TEST(Protocol, OfAnAllToAllIsThatOfItsMessages) {
  EXPECT_EQ(nccl_choice(Operation::kAllToAll, nullptr, 16 * 16384, h100(2)).protocol, Protocol::kLl);
  EXPECT_EQ(nccl_choice(Operation::kAllToAll, nullptr, 16 * 16388, h100(2)).protocol, Protocol::kSimple);
  EXPECT_EQ(protocol_of_send(Protocol::kNone, 4), Protocol::kNone);
  EXPECT_EQ(protocol_of_send(Protocol::kLl128, 4), Protocol::kSimple);
}

// GPUs that share NICs have fewer of them; ranks without a scale-up network are hosts of their own.
TEST(Protocol, OfASystemCountsNics) {
  const NcclSystem shared = nccl_system(8, {0, 0, 0, 0, 1, 1, 1, 1}, {1, 1, 2, 2, 1, 1, 2, 2}, {}, 450, 50);
  EXPECT_EQ(shared, (NcclSystem{.ranks = 8, .hosts = 2, .scale_up = 450, .network = 100}));
  EXPECT_EQ(nccl_system(4, {}, {}, {}, 0, 50), (NcclSystem{.ranks = 4, .hosts = 4, .scale_up = 0, .network = 50}));
}

// Kernels reach 80 % of NVLink; trees less of it by size.
TEST(Protocol, ReachesAShareOfTheScaleUpNetwork) {
  EXPECT_EQ(scale_up_share(Protocol::kNone, kRing, 1 << 20, h100(2)), 1);
  EXPECT_DOUBLE_EQ(scale_up_share(Protocol::kSimple, kRing, 1 << 20, h100(2)), 0.8);
  EXPECT_DOUBLE_EQ(scale_up_share(Protocol::kSimple, kTree, std::uint64_t{1} << 33, h100(2)), 0.8 * 0.92);
  EXPECT_DOUBLE_EQ(scale_up_share(Protocol::kSimple, kTree, 1 << 20, h100(2)), 0.8 * 0.92 * 0.5);
  EXPECT_LT(scale_up_share(Protocol::kLl, kTree, 64, h100(2)), scale_up_share(Protocol::kLl, kRing, 64, h100(2)));
}

TEST(Protocol, CostsEachMessageAtItsReceiver) {
  const CollectiveShape shape{.size = 4096, .host = {0, 0, 1, 1}, .rail = {1, 2, 1, 2},
                              .costs = {.launch = Duration{9}, .step = Duration{5}, .scale_up_step = Duration{3}, .ps_per_octet = 1}};
  for (const RankProgram& p : plan_collective(shape, 4))
    for (const CollectiveStep& s : p.steps) {
      if (!s.receives()) continue;
      EXPECT_EQ(s.time.ps, (p.connections[s.connection].scale_up ? 3 : 5) + s.octets);
    }
}

}  // namespace
}  // namespace railyard::collectives
