// Every algorithm with every number of ranks, carried out in memory: messages arrive in any order that QPs allow, and
// are read from the sender's data as late as can be.
#include "control/collectives/collective_plan.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/collectives/plan_builder.h"
#include "dataplane/base/rng.h"

namespace railyard::collectives {
namespace {

using Kind = CollectiveStep::Kind;

// Elements of four octets; an input that no other rank, and no other place, has.
std::uint64_t input(std::uint32_t rank, std::uint64_t offset) { return mix64(rank * 1'000'003ull + offset); }

class Memory {
 public:
  Memory(const std::vector<RankProgram>& programs, std::uint64_t seed)
      : programs_(programs), rng_(Seed{seed}, "order") {
    for (const RankProgram& p : programs) {
      Rank& r = ranks_.emplace_back();
      r.data.assign((p.data_octets + p.staging_octets) / 4, 0);
      r.done.assign(p.steps.size(), false);
      r.queues.resize(p.connections.size());
      for (const CollectiveExtent& e : p.inputs)
        for (std::uint64_t o = 0; o < e.octets; o += 4)
          r.data[(e.offset + o) / 4] = input(e.rank, e.source_offset + o);
      for (const CollectiveStep& s : p.steps) r.waits.push_back(s.waits_for);
    }
    for (std::uint32_t r = 0; r < programs.size(); ++r)
      for (std::uint32_t s = 0; s < programs[r].steps.size(); ++s)
        if (!programs[r].steps[s].receives() && programs[r].steps[s].waits_for == 0) post(r, s);
  }

  void run() {
    while (!ready_.empty()) {
      const std::size_t i = rng_.below(ready_.size());
      const auto [rank, connection] = ready_[i];
      std::deque<std::uint32_t>& queue = ranks_[rank].queues[connection];
      const std::uint32_t step = queue.front();
      queue.pop_front();
      if (queue.empty()) {
        ready_[i] = ready_.back();
        ready_.pop_back();
      }
      deliver(rank, step);
    }
  }

  void expect_right() const {
    for (std::uint32_t r = 0; r < programs_.size(); ++r) {
      EXPECT_EQ(std::ranges::count(ranks_[r].done, false), 0) << "rank " << r;
      for (const CollectiveExtent& e : programs_[r].results)
        for (std::uint64_t o = 0; o < e.octets; o += 4) {
          std::uint64_t expected = 0;
          for (std::uint32_t q = 0; q < programs_[0].ranks; ++q)
            if (e.rank == CollectiveExtent::kSum || e.rank == q) expected += input(q, e.source_offset + o);
          ASSERT_EQ(ranks_[r].data[(e.offset + o) / 4], expected) << "rank " << r << " octet " << e.offset + o;
        }
    }
  }

 private:
  struct Rank {
    std::vector<std::uint64_t> data;
    std::vector<bool> done;
    std::vector<std::uint32_t> waits;
    std::vector<std::deque<std::uint32_t>> queues;  // by connection: sends under way
  };

  void post(std::uint32_t rank, std::uint32_t step) {
    if (programs_[rank].steps[step].kind == Kind::kCompute) return finish(rank, step);
    std::deque<std::uint32_t>& queue = ranks_[rank].queues[programs_[rank].steps[step].connection];
    queue.push_back(step);
    if (queue.size() == 1) ready_.emplace_back(rank, programs_[rank].steps[step].connection);
  }

  void deliver(std::uint32_t from, std::uint32_t step) {
    const CollectiveStep& s = programs_[from].steps[step];
    const RankConnection& c = programs_[from].connections[s.connection];
    const CollectiveStep& r = programs_[c.peer].steps[s.peer_step];
    ASSERT_NE(r.kind, Kind::kSend);
    ASSERT_EQ(r.connection, c.at_peer);
    ASSERT_EQ(r.peer_step, step);
    ASSERT_EQ(r.octets, s.octets);
    ASSERT_EQ(r.identity, s.identity);
    ASSERT_EQ(r.place, s.place);
    Rank& to = ranks_[c.peer];
    for (std::uint64_t o = 0; o < s.octets; o += 4) {
      const std::uint64_t value = ranks_[from].data[(s.offset + o) / 4];
      to.data[(s.place + o) / 4] = value;
      if (r.kind == Kind::kReduce) to.data[(r.offset + o) / 4] += value;
    }
    finish(from, step);
    finish(c.peer, s.peer_step);
  }

  void finish(std::uint32_t rank, std::uint32_t step) {
    const RankProgram& p = programs_[rank];
    ASSERT_FALSE(ranks_[rank].done[step]);
    ranks_[rank].done[step] = true;
    for (std::uint32_t i = p.steps[step].first_after; i < p.steps[step].end_after; ++i)
      if (--ranks_[rank].waits[p.after[i]] == 0) post(rank, p.after[i]);
  }

  const std::vector<RankProgram>& programs_;
  std::vector<Rank> ranks_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ready_;  // rank and connection with something under way
  RngStream rng_;
};

// Of algorithms that need it: leaves with three ranks each, all linked to two spines; all of these switches reduce.
CollectiveShape with_reducers(CollectiveShape shape, std::uint32_t ranks) {
  if (!shape.used_algorithm().in_switches) return shape;
  ReductionNetwork& network = shape.reduction;
  const std::uint32_t leaves = (ranks + 2) / 3;
  network.neighbours.resize(leaves + 2);
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
    for (const std::uint32_t spine : {leaves, leaves + 1}) {
      network.neighbours[leaf].push_back(spine);
      network.neighbours[spine].push_back(leaf);
    }
  for (std::uint32_t s = 0; s < leaves + 2; ++s) network.reducer.push_back(s);
  for (std::uint32_t r = 0; r < ranks; ++r) network.leaf.push_back(r / 3);
  network.latency.resize(leaves + 2);
  return shape;
}

void expect_right(const CollectiveShape& said, std::uint32_t ranks, std::uint64_t seed = 1) {
  const CollectiveShape shape = said.reduction.neighbours.empty() ? with_reducers(said, ranks) : said;
  const std::vector<RankProgram> programs = plan_collective(shape, ranks);
  Memory memory(programs, seed);
  memory.run();
  memory.expect_right();
}

// Each rank at a place of its own, and switches reduce.
Layout apart(std::uint32_t n) {
  Layout l{.ranks = n, .reduces = true};
  for (std::uint32_t r = 0; r < n; ++r) l.group.push_back(r);
  return l;
}

class EveryAlgorithm : public testing::TestWithParam<Operation> {};

TEST_P(EveryAlgorithm, BringsTheRightDataToAllRanks) {
  for (const Algorithm* a : algorithms(GetParam()))
    for (std::uint32_t n = 2; n <= 17; ++n) {
      if (a->refusal(apart(n))) continue;
      for (const std::uint32_t channels : {1u, 3u})
        for (const std::uint32_t chunk : {12u, 64u, 1u << 20}) {
          SCOPED_TRACE(testing::Message() << a->name << " of " << n << ", " << channels << " in " << chunk);
          CollectiveShape shape{.operation = GetParam(), .algorithm = a, .size = std::uint64_t{4} * n * 11,
                                .chunk = chunk, .channels = channels};
          if (traits(shape.operation).has_root) shape.root = n / 2;
          expect_right(shape, n, n * chunk);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Operations, EveryAlgorithm,
                         testing::ValuesIn(kOperations),
                         [](const auto& c) {
                           std::string word(name(c.param));
                           std::erase(word, '-');
                           return word;
                         });

TEST(CollectivePlan, HierarchicalGoesWithinGroupsAndAcrossThem) {
  for (const Algorithm* a : {&kHierarchicalRing, &kHierarchicalTree})
  for (const std::uint32_t groups : {2u, 3u, 4u})
    for (const std::uint32_t members : {2u, 3u, 5u}) {
      // In turn, and one after the other.
      for (const bool in_turn : {false, true}) {
        const std::uint32_t n = groups * members;
        CollectiveShape shape{.algorithm = a, .size = 4 * 97, .chunk = 16, .channels = 2};
        for (std::uint32_t r = 0; r < n; ++r) shape.group.push_back(in_turn ? r % groups : r / members);
        expect_right(shape, n);
        // A ring of groups sends 2 (g - 1) / g of a part from each of g; a tree has g - 1 edges, up and down.
        std::uint64_t across = 0;
        const std::vector<RankProgram> programs = plan_collective(shape, n);
        for (const RankProgram& p : programs)
          for (const CollectiveStep& s : p.steps)
            if (s.kind == Kind::kSend && shape.group[p.connections[s.connection].peer] != shape.group[p.rank])
              across += s.octets;
        EXPECT_EQ(across, 2 * (groups - 1) * shape.size);
      }
    }
}

// Hosts of four ranks on four rails.
CollectiveShape in_hosts(CollectiveShape shape, std::uint32_t hosts) {
  for (std::uint32_t r = 0; r < 4 * hosts; ++r) {
    shape.host.push_back(r / 4);
    shape.rail.push_back(r % 4 + 1);
  }
  shape.group = shape.host;
  return shape;
}

TEST_P(EveryAlgorithm, GoesOverRailsOrByTheRankThatIsOnThem) {
  for (const Algorithm* a : algorithms(GetParam()))
    for (const bool pxn : {false, true}) {
      SCOPED_TRACE(testing::Message() << a->name << (pxn ? " by relays" : ""));
      const CollectiveShape shape = in_hosts({.operation = GetParam(), .algorithm = a, .size = 4 * 16 * 11, .chunk = 64,
                                              .channels = 3, .root = traits(GetParam()).has_root ? 5u : 0u,
                                              .pxn = pxn},
                                             4);
      expect_right(shape, 16, 3);
      bool relayed = false;
      for (const RankProgram& p : plan_collective(with_reducers(shape, 16), 16)) {
        for (const RankConnection& c : p.connections) {
          if (std::max(p.rank, c.peer) >= 16) {
            EXPECT_FALSE(c.scale_up) << "no reducer is in a host";
            continue;
          }
          EXPECT_EQ(c.scale_up, p.rank / 4 == c.peer / 4);
          EXPECT_TRUE(!pxn || c.scale_up || p.rank % 4 == c.peer % 4) << p.rank << " to " << c.peer;
        }
        for (const CollectiveStep& s : p.steps) relayed = relayed || s.kind == Kind::kRelay;
      }
      // Pairs and heaps go across rails by themselves; rings come in where they went out, and trees are of ranks on one
      // rail.
      if (a == &kDirect || a == &kSingleTree) {
        EXPECT_EQ(relayed, pxn);
      }
      if (!pxn || a == &kRing || a == &kTree) {
        EXPECT_FALSE(relayed);
      }
    }
}

TEST(CollectivePlan, EachChannelOfARingLeavesItsHostsAtAnotherRail) {
  const CollectiveShape shape = in_hosts({.size = 4 * 16 * 16, .channels = 4}, 4);
  std::map<std::uint32_t, std::set<std::uint32_t>> leaving;  // channels, by rank
  for (const RankProgram& p : plan_collective(shape, 16))
    for (const CollectiveStep& s : p.steps) {
      const RankConnection& c = p.connections[s.connection];
      if (s.kind != Kind::kSend || c.scale_up) continue;
      EXPECT_EQ(c.peer % 4, p.rank % 4);
      leaving[p.rank].insert(c.channel);
    }
  EXPECT_EQ(leaving.size(), 16u);
  for (const auto& [rank, channels] : leaving) EXPECT_EQ(channels.size(), 1u) << rank;
}

// As many channels as NICs: each channel's trees are on one rail, and together they are on all. One channel is on all.
TEST(CollectivePlan, ChannelsOfATreeShareTheRails) {
  for (const Operation operation : {Operation::kAllReduce, Operation::kBroadcast, Operation::kReduce})
    for (const std::uint32_t channels : {1u, 2u, 3u, 4u, 8u}) {
      const CollectiveShape shape =
          in_hosts({.operation = operation, .algorithm = &kTree, .size = 4 * 16 * 48, .channels = channels}, 4);
      std::map<std::uint32_t, std::set<std::uint32_t>> rails;  // by channel
      std::map<std::uint32_t, std::uint64_t> octets;           // by rail
      for (const RankProgram& p : plan_collective(shape, 16))
        for (const CollectiveStep& s : p.steps) {
          const RankConnection& c = p.connections[s.connection];
          if (s.kind != Kind::kSend || c.scale_up) continue;
          rails[c.channel].insert(p.rank % 4);
          octets[p.rank % 4] += s.octets;
        }
      for (const auto& [channel, used] : rails)
        EXPECT_EQ(used.size(), channels == 3 ? 4u : std::max(4 / channels, 1u)) << channels;
      ASSERT_EQ(octets.size(), 4u);
      for (const auto& [rail, sum] : octets) EXPECT_EQ(sum, octets[0]) << channels;
    }
}

// Scale-up networks of three hosts of two ranks, each at a NIC of its own.
CollectiveShape in_networks(CollectiveShape shape, std::uint32_t networks) {
  for (std::uint32_t r = 0; r < 6 * networks; ++r) {
    shape.host.push_back(r / 6);
    shape.tray.push_back(r / 2 % 3);
    shape.rail.push_back(r % 2 + 1);
  }
  shape.group = shape.host;
  return shape;
}

// The same with networks that reduce: one network alone, and several with switches between them.
TEST_P(EveryAlgorithm, IsRightWhereScaleUpNetworksReduce) {
  if (!kInNetwork.does(GetParam())) return;
  for (const std::uint32_t hosts : {1u, 2u, 3u})
    for (const std::uint32_t channels : {1u, 3u, 4u}) {
      SCOPED_TRACE(testing::Message() << hosts << " hosts, " << channels << " channels");
      const std::uint32_t n = 4 * hosts;
      CollectiveShape shape = with_reducers(in_hosts({.operation = GetParam(), .algorithm = &kInNetwork,
                                                      .size = std::uint64_t{4} * n * 4001, .channels = channels,
                                                      .root = traits(GetParam()).has_root ? n - 2 : 0u},
                                                     hosts),
                                            n);
      for (std::uint32_t h = 0; h < hosts; ++h) {
        shape.reduction.of_network.push_back(static_cast<std::uint32_t>(shape.reduction.latency.size()));
        shape.reduction.latency.emplace_back();
      }
      expect_right(shape, n, n + channels);
    }
}

TEST_P(EveryAlgorithm, GoesOverNetworksOfSeveralHosts) {
  for (const Algorithm* a : algorithms(GetParam()))
    for (const bool pxn : {false, true}) {
      SCOPED_TRACE(testing::Message() << a->name << (pxn ? " by relays" : ""));
      const CollectiveShape shape =
          in_networks({.operation = GetParam(), .algorithm = a, .size = 4 * 12 * 11, .chunk = 64, .channels = 3,
                       .root = traits(GetParam()).has_root ? 5u : 0u, .pxn = pxn},
                      2);
      if (a->refusal({.ranks = 12, .group = shape.group, .in_hosts = true, .in_networks = true})) continue;
      expect_right(shape, 12, 3);
      for (const RankProgram& p : plan_collective(with_reducers(shape, 12), 12)) {
        for (const RankConnection& c : p.connections) {
          if (std::max(p.rank, c.peer) >= 12) continue;
          EXPECT_EQ(c.scale_up, p.rank / 6 == c.peer / 6);
          EXPECT_TRUE(!pxn || c.scale_up || p.rank % 2 == c.peer % 2) << p.rank << " to " << c.peer;
        }
        for (const CollectiveStep& s : p.steps)
          if (s.kind == Kind::kRelay) {
            EXPECT_EQ(p.connections[s.connection].peer / 2, p.rank / 2) << "from a rank of its own host";
          }
      }
    }
}

// It goes through all ranks of a network before it leaves it, in each channel by another NIC, to the same one of the next.
TEST(CollectivePlan, ARingLeavesANetworkOfHostsOnceInAChannel) {
  const CollectiveShape shape = in_networks({.size = 4 * 24 * 24, .channels = 6}, 4);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> leaving;  // ranks, by network and channel
  std::map<std::uint32_t, std::uint64_t> octets;                                       // by rank
  for (const RankProgram& p : plan_collective(shape, 24))
    for (const CollectiveStep& s : p.steps) {
      const RankConnection& c = p.connections[s.connection];
      if (s.kind != Kind::kSend || c.scale_up) continue;
      EXPECT_EQ(c.peer % 6, p.rank % 6);
      leaving[{p.rank / 6, c.channel}].insert(p.rank);
      octets[p.rank] += s.octets;
    }
  EXPECT_EQ(leaving.size(), 4u * 6);
  for (const auto& [of, ranks] : leaving) EXPECT_EQ(ranks.size(), 1u) << of.first << " " << of.second;
  EXPECT_EQ(octets.size(), 24u) << "by all NICs";
  for (const auto& [rank, sent] : octets) EXPECT_EQ(sent, octets[0]) << rank;
}

// Trees between networks use all NICs, not only those of one host each.
TEST(CollectivePlan, TreesBetweenNetworksOfHostsUseAllNics) {
  const CollectiveShape shape = in_networks({.algorithm = &kTree, .size = 4 * 12 * 48}, 2);
  std::map<std::uint32_t, std::uint64_t> octets;  // by place in a network
  for (const RankProgram& p : plan_collective(shape, 12))
    for (const CollectiveStep& s : p.steps)
      if (s.kind == Kind::kSend && !p.connections[s.connection].scale_up) {
        EXPECT_EQ(p.connections[s.connection].peer % 6, p.rank % 6);
        octets[p.rank % 6] += s.octets;
      }
  EXPECT_EQ(octets.size(), 6u);
  for (const auto& [rank, sent] : octets) EXPECT_EQ(sent, octets[0]) << rank;
}

TEST(CollectivePlan, ComputingTakesASlowRankLonger) {
  const CollectiveShape shape{.size = 400, .forward = Duration{1000}, .backward = Duration{4000}, .buckets = 2,
                              .slowness = {1, 1.5, 1, 2}};
  const std::vector<RankProgram> programs = plan_collective(shape, 4);
  for (std::uint32_t r = 0; r < 4; ++r) {
    Duration all{};
    for (const CollectiveStep& s : programs[r].steps) all += s.time;
    EXPECT_EQ(static_cast<double>(all.ps), 5000 * shape.slowness[r]);
  }
}

TEST(CollectivePlan, AStepOfTrainingComputesBucketByBucket) {
  for (const Algorithm* a : {&kRing, &kTree, &kSingleTree, &kHalvingDoubling, &kDirect}) {
    const CollectiveShape shape{.algorithm = a, .size = 4 * 1000, .chunk = 200, .channels = 2,
                                .forward = Duration{500}, .backward = Duration{4000}, .buckets = 4};
    expect_right(shape, 8);
    for (const RankProgram& p : plan_collective(shape, 8)) {
      std::vector<Duration> times;
      for (const CollectiveStep& s : p.steps)
        if (s.kind == Kind::kCompute) times.push_back(s.time);
      EXPECT_EQ(times, (std::vector<Duration>{{500}, {1000}, {1000}, {1000}, {1000}}));
      // Nothing goes before what it is made of is computed.
      for (const CollectiveStep& s : p.steps)
        EXPECT_TRUE(s.kind != Kind::kSend || s.waits_for >= 1);
    }
  }
}

TEST(CollectivePlan, SizesThatDoNotComeOutEvenAreSplitByElements) {
  // Fewer elements than ranks, and one more than a multiple.
  for (const std::uint64_t elements : {1u, 3u, 7u, 8u, 9u, 100u})
    for (const Algorithm* a : {&kRing, &kTree, &kSingleTree, &kHalvingDoubling, &kDirect})
      expect_right({.algorithm = a, .size = 4 * elements, .chunk = 8, .channels = 2}, 8);
  EXPECT_THAT(split({8, 20}, 3, 4), testing::ElementsAre(Range{8, 8}, Range{16, 8}, Range{24, 4}));
}

std::uint64_t sent(const RankProgram& p) {
  std::uint64_t octets = 0;
  for (const CollectiveStep& s : p.steps) octets += s.kind == Kind::kSend ? s.octets : 0;
  return octets;
}

TEST(CollectivePlan, EachRankSendsWhatTheAlgorithmIsKnownFor) {
  constexpr std::uint32_t kRanks = 8;
  constexpr std::uint64_t kSize = 4 * 8 * 64;
  const auto most = [](Operation o, const Algorithm& a) {
    std::uint64_t octets = 0;
    for (const RankProgram& p : plan_collective({.operation = o, .algorithm = &a, .size = kSize, .chunk = 64}, kRanks))
      octets = std::max(octets, sent(p));
    return octets;
  };
  // The least that is possible: 2(n-1)/n and (n-1)/n of the size.
  EXPECT_EQ(most(Operation::kAllReduce, kRing), 2 * kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kAllReduce, kHalvingDoubling), 2 * kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kReduceScatter, kRing), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kReduceScatter, kHalving), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kAllGather, kRing), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kAllGather, kDoubling), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kAllToAll, kDirect), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kBroadcast, kRing), kSize);
  EXPECT_EQ(most(Operation::kAllReduce, kDirect), 2 * kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kReduceScatter, kDirect), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kAllGather, kDirect), kSize * 7 / 8);
  // Up once, and down to two.
  EXPECT_EQ(most(Operation::kAllReduce, kSingleTree), 3 * kSize);
  // Of one half up once and down to two, of the other half up once.
  EXPECT_EQ(most(Operation::kAllReduce, kTree), 2 * kSize);
  EXPECT_EQ(most(Operation::kBroadcast, kTree), kSize);
  EXPECT_EQ(most(Operation::kReduce, kRing), kSize);
  EXPECT_EQ(most(Operation::kReduce, kTree), kSize);
  EXPECT_EQ(most(Operation::kReduce, kDirect), kSize);
  EXPECT_EQ(most(Operation::kGather, kDirect), kSize / 8);
  EXPECT_EQ(most(Operation::kScatter, kDirect), kSize * 7 / 8);
  EXPECT_EQ(most(Operation::kSendRecv, kDirect), kSize);
  EXPECT_EQ(most(Operation::kBarrier, kDissemination), 3 * 4u);
}

// The longest way from a send to one that waits for it, over all ranks.
std::size_t depth(const std::vector<RankProgram>& programs) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> at;
  std::size_t deepest = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> next;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> waits;
  for (const RankProgram& p : programs)
    for (std::uint32_t s = 0; s < p.steps.size(); ++s) {
      waits[{p.rank, s}] = p.steps[s].waits_for;
      if (p.steps[s].kind == Kind::kSend && p.steps[s].waits_for == 0) {
        next.emplace_back(p.rank, s);
        at[{p.rank, s}] = 1;
      }
    }
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto [rank, step] = next[i];
    const std::size_t here = at[next[i]];
    deepest = std::max(deepest, here);
    const CollectiveStep& s = programs[rank].steps[step];
    const RankProgram& peer = programs[programs[rank].connections[s.connection].peer];
    const CollectiveStep& r = peer.steps[s.peer_step];
    for (std::uint32_t k = r.first_after; k < r.end_after; ++k) {
      const std::pair key{peer.rank, peer.after[k]};
      at[key] = std::max(at[key], here + 1);
      if (--waits[key] == 0) next.push_back(key);
    }
  }
  return deepest;
}

TEST(CollectivePlan, RingsAreAsDeepAsThereAreRanksAndTreesAsTheirLogarithm) {
  for (const std::uint32_t n : {2u, 4u, 8u, 16u}) {
    const auto of = [&](const Algorithm& a) { return depth(plan_collective({.algorithm = &a, .size = 4 * n}, n)); };
    EXPECT_EQ(of(kRing), 2 * (n - 1));
    EXPECT_EQ(of(kTree), 2u * static_cast<unsigned>(std::countr_zero(n)));
    EXPECT_EQ(of(kSingleTree), 2u * static_cast<unsigned>(std::countr_zero(n)));
    EXPECT_EQ(of(kDirect), 2u);
    EXPECT_EQ(of(kHalvingDoubling), 2u * static_cast<unsigned>(std::countr_zero(n)));
  }
}

TEST(CollectivePlan, OddChannelsOfASingleTreeGiveTheWorkToOthers) {
  const auto programs = plan_collective({.algorithm = &kSingleTree, .size = 4096, .channels = 2}, 8);
  std::vector<std::set<std::uint32_t>> parents(2);
  for (const RankProgram& p : programs)
    for (const CollectiveStep& s : p.steps)
      if (s.kind == Kind::kReduce) parents[p.connections[s.connection].channel].insert(p.rank);
  EXPECT_THAT(parents[0], testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(parents[1], testing::ElementsAre(4, 5, 6, 7));
}

// Three hosts of two, three and four ranks: each host's parts end at its ranks on rails 1 and 2.
TEST(CollectivePlan, TreesOfUnequalHostsLeaveThemAtCommonRails) {
  for (const Operation o : {Operation::kAllReduce, Operation::kBroadcast, Operation::kReduce})
    for (const Algorithm* a : {&kTree, &kHierarchicalTree}) {
      CollectiveShape shape{.operation = o, .algorithm = a, .size = 4 * 97, .chunk = 16, .channels = 2};
      shape.host = {0, 0, 1, 1, 1, 2, 2, 2, 2};
      shape.rail = {2, 1, 1, 2, 3, 4, 3, 2, 1};
      shape.group = shape.host;
      expect_right(shape, 9);
      std::set<std::uint32_t> rails;
      for (const RankProgram& p : plan_collective(shape, 9))
        for (const RankConnection& c : p.connections) {
          if (c.scale_up) continue;
          EXPECT_EQ(shape.rail[p.rank], shape.rail[c.peer]);
          rails.insert(shape.rail[p.rank]);
        }
      EXPECT_EQ(rails, (std::set<std::uint32_t>{1, 2}));
    }
}

// With an odd number of hosts a ring needs a third rail to come round without a hop across rails.
TEST(CollectivePlan, RingsStayOnRailsWithAnyNumberOfHosts) {
  for (const std::uint32_t hosts : {2u, 3u, 4u, 5u, 7u})
    for (const std::uint32_t channels : {1u, 4u}) {
      const CollectiveShape shape = in_hosts({.size = 4 * 16 * 16, .channels = channels}, hosts);
      expect_right(shape, 4 * hosts);
      for (const RankProgram& p : plan_collective(shape, 4 * hosts))
        for (const RankConnection& c : p.connections)
          EXPECT_TRUE(c.scale_up || c.peer % 4 == p.rank % 4) << hosts << ": " << p.rank << " to " << c.peer;
    }
}

TEST(CollectivePlan, ChunksOfAMessageDoNotWaitForEachOther) {
  const auto programs = plan_collective({.size = 4 * 4 * 1000, .chunk = 400}, 4);
  for (const CollectiveStep& s : programs[0].steps) EXPECT_LE(s.waits_for, 1u);
}

TEST(CollectivePlan, BusbwFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kAllToAll, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kBroadcast, 8), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kReduce, 8), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kSendRecv, 8), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Operation::kBarrier, 8), 0);
}

// Whoever has passed a barrier has heard of everybody, directly or by others.
TEST(CollectivePlan, NobodyPassesABarrierBeforeTheLastOneIsThere) {
  for (const std::uint32_t n : {2u, 3u, 5u, 8u, 13u, 16u}) {
    const auto programs = plan_collective({.operation = Operation::kBarrier}, n);
    // Who is known at a rank after so many rounds; a send of round k carries what its rank knew before.
    std::vector<std::set<std::uint32_t>> known(n);
    for (std::uint32_t r = 0; r < n; ++r) known[r] = {r};
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> carried;
    std::vector<std::vector<std::uint32_t>> waits(n);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> next;
    for (const RankProgram& p : programs)
      for (std::uint32_t s = 0; s < p.steps.size(); ++s) {
        waits[p.rank].push_back(p.steps[s].waits_for);
        if (p.steps[s].kind == Kind::kSend && p.steps[s].waits_for == 0) next.emplace_back(p.rank, s);
      }
    // What each waits for, and no more, is in what it carries.
    for (const auto& [r, s] : next) carried[{r, s}] = {r};
    for (std::size_t i = 0; i < next.size(); ++i) {
      const auto [rank, step] = next[i];
      const RankProgram& peer = programs[programs[rank].connections[programs[rank].steps[step].connection].peer];
      const std::uint32_t receive = programs[rank].steps[step].peer_step;
      known[peer.rank].insert(carried[{rank, step}].begin(), carried[{rank, step}].end());
      for (std::uint32_t k = peer.steps[receive].first_after; k < peer.steps[receive].end_after; ++k) {
        const std::pair key{peer.rank, peer.after[k]};
        carried[key].insert(peer.rank);
        carried[key].insert(carried[{rank, step}].begin(), carried[{rank, step}].end());
        if (--waits[peer.rank][peer.after[k]] == 0) next.push_back(key);
      }
    }
    for (std::uint32_t r = 0; r < n; ++r) EXPECT_EQ(known[r].size(), n) << "rank " << r << " of " << n;
  }
}

// From rank 0 nothing goes to rank 1, and rank 2 is sent most.
TEST(CollectivePlan, PartsOfAnAllToAllMayBeUnequal) {
  const CollectiveShape shape{.operation = Operation::kAllToAll,
                              .size = 4 * 60,
                              .chunk = 16,
                              .channels = 2,
                              .matrix = {8, 0, 40, 4, 4, 88, 12, 16, 212}};
  expect_right(shape, 3);
  std::vector<std::vector<std::uint64_t>> between(3, std::vector<std::uint64_t>(3));
  for (const RankProgram& p : plan_collective(shape, 3))
    for (const CollectiveStep& s : p.steps)
      if (s.kind == Kind::kSend) between[p.rank][p.connections[s.connection].peer] += s.octets;
  EXPECT_EQ(between, (std::vector<std::vector<std::uint64_t>>{{0, 0, 40}, {4, 0, 88}, {12, 16, 0}}));
  // Rank 2 gets 128 octets from the others; the largest row has 240.
  EXPECT_DOUBLE_EQ(busbw_factor(shape, 3), 128.0 / 240);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveShape{.operation = Operation::kAllToAll, .size = 240}, 3), 2.0 / 3);
}

}  // namespace
}  // namespace railyard::collectives
