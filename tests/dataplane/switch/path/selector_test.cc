#include "dataplane/switch/path/selector.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/frames.h"

namespace railyard {
namespace {

using namespace literals;

constexpr PortIndex kIn{0};
constexpr std::uint32_t kMembers = 8;

// Two groups of eight ports: 1..8 and 9..16, the weights of the second 1..8. Class k has the policy numbered k.
class PathSelectorTest : public ::testing::Test {
 protected:
  enum Class : std::uint8_t { kEcmp, kWcmp, kFlowlet, kRoundRobin, kRandom, kLeastLoaded, kAdaptive, kPerFlowlet };

  PathSelectorTest() {
    routes.push_back({test::prefix("10.0.1.0/24"), {}, {}});
    routes.push_back({test::prefix("10.0.2.0/24"), {}, {}});
    for (std::uint16_t p = 1; p <= kMembers; ++p) {
      routes[0].ports.push_back(PortIndex{p});
      routes[1].ports.push_back(PortIndex{static_cast<std::uint16_t>(p + kMembers)});
      routes[1].weights.push_back(p);
    }
    fecs = FecTable(std::vector{routes[0].prefix, routes[1].prefix});
    table = ForwardingTable(fecs, routes);
    group = table.lookup(fecs.lookup(test::ip("10.0.1.1")));
    weighted = table.lookup(fecs.lookup(test::ip("10.0.2.1")));
    config.by_class[kWcmp].policy = PathPolicy::kWcmp;
    config.by_class[kFlowlet] = {.policy = PathPolicy::kFlowlet, .gap = 10_us};
    for (const Class k : {kRoundRobin, kRandom, kLeastLoaded}) config.by_class[k].policy = PathPolicy::kSpray;
    config.by_class[kRoundRobin].order = SprayOrder::kRoundRobin;
    config.by_class[kRandom].order = SprayOrder::kRandom;
    config.by_class[kLeastLoaded].order = SprayOrder::kLeastLoaded;
    config.by_class[kAdaptive].policy = PathPolicy::kAdaptive;
    config.by_class[kPerFlowlet] = {.policy = PathPolicy::kAdaptive, .per_flowlet = true, .gap = 10_us};
    make();
  }
  void make() {
    selector = PathSelector(config, Seed{1}, "sw", 17, 256_B);
    selector.set_table(table);
    for (std::uint16_t p = 0; p < 17; ++p) selector.set_rate(PortIndex{p}, 100_Gbps);
  }
  static Packet flow(std::uint32_t n) {
    Packet p{};
    p.address_hash = 123;
    p.transport_hash = n;
    p.frame_octets = 1000;
    return p;
  }
  std::uint32_t choose(const NextHops& hops, Class k, std::uint32_t flow_number = 456, Duration now = {}) {
    const Priority priority{k};
    const Packet p = flow(flow_number);
    return selector.depends_on_now(priority) ? selector.choose_now(Instant{} + now, hops, p, kIn, priority)
                                             : selector.choose(hops, p, kIn, priority);
  }
  void down(std::uint32_t member) { selector.set_up(table.member(group, member), false); }
  void up(std::uint32_t member) { selector.set_up(table.member(group, member), true); }
  void load(std::uint32_t member, std::uint32_t cells) { selector.set_load(table.member(group, member), cells); }

  PathSelectorConfig config;
  std::vector<Route> routes;
  FecTable fecs;
  ForwardingTable table;
  NextHops group;
  NextHops weighted;
  PathSelector selector;
};

TEST_F(PathSelectorTest, TheClassDecidesThePolicy) {
  EXPECT_EQ(choose(group, kEcmp), Ecmp(0, {}).choose(flow(456), kIn, kMembers));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(group, kEcmp), choose(group, kEcmp)) << "one flow, one path";
  std::set<std::uint32_t> sprayed;
  for (std::uint32_t i = 0; i < kMembers; ++i) sprayed.insert(choose(group, kRoundRobin));
  EXPECT_EQ(sprayed.size(), kMembers) << "one flow, all paths";
}

TEST_F(PathSelectorTest, SprayedClassesAndGroupsTakeTurnsOfTheirOwn) {
  config.by_class[kEcmp] = config.by_class[kRoundRobin];
  make();
  const std::uint32_t a = choose(group, kRoundRobin);
  const std::uint32_t b = choose(group, kEcmp);
  const std::uint32_t c = choose(weighted, kRoundRobin);
  for (std::uint32_t i = 1; i < 20; ++i) {
    EXPECT_EQ(choose(group, kRoundRobin), (a + i) % kMembers);
    EXPECT_EQ(choose(group, kEcmp), (b + i) % kMembers);
    EXPECT_EQ(choose(weighted, kRoundRobin), (c + i) % kMembers);
  }
}

TEST_F(PathSelectorTest, ShuffledEachMemberHasOneTurnInARoundAndRoundsDiffer) {
  config.by_class[kRoundRobin].order = SprayOrder::kShuffled;
  make();
  std::set<std::vector<std::uint32_t>> rounds;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < kMembers; ++i) order.push_back(choose(group, kRoundRobin));
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), kMembers);
    rounds.insert(order);
  }
  EXPECT_GT(rounds.size(), 45u) << "of 8! orders";
}

TEST_F(PathSelectorTest, ShuffledNoPacketGoesToAMemberThatIsDown) {
  config.by_class[kRoundRobin].order = SprayOrder::kShuffled;
  make();
  for (std::uint32_t m = 1; m < kMembers; ++m) down(m);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choose(group, kRoundRobin), 0u);
}

// DRILL(1, 0) is random; DRILL(8, 0) finds the shortest queue of eight; DRILL(1, 1) finds it as well, and stays.
TEST_F(PathSelectorTest, DrillTakesTheBestOfWhatItLooksAt) {
  const auto with = [&](std::uint8_t choices, std::uint8_t memory) {
    config.by_class[kAdaptive] = {.policy = PathPolicy::kDrill, .choices = choices, .memory = memory};
    make();
    for (std::uint32_t m = 0; m < kMembers; ++m) load(m, 10 + m);
    load(5, 1);
  };
  with(1, 0);
  std::vector<int> taken(kMembers);
  for (int i = 0; i < 8000; ++i) ++taken[choose(group, kAdaptive)];
  for (const int n : taken) EXPECT_NEAR(n, 1000, 6 * std::sqrt(1000));
  with(8, 0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(group, kAdaptive), 5u);
  // Two unlike ones of eight: the best is among them in a quarter of all draws.
  with(2, 0);
  int best = 0;
  for (int i = 0; i < 8000; ++i) best += choose(group, kAdaptive) == 5;
  EXPECT_NEAR(best, 2000, 6 * std::sqrt(2000 * 0.75));
  with(1, 1);
  int last_other = 0;
  for (int i = 0; i < 1000; ++i)
    if (choose(group, kAdaptive) != 5u) last_other = i;
  EXPECT_LT(last_other, 200) << "not found in 200 draws: once in 4e11 times";
}

TEST_F(PathSelectorTest, DrillTakesNoMemberThatIsDownWhileOneIsUp) {
  config.by_class[kAdaptive] = {.policy = PathPolicy::kDrill};
  make();
  for (std::uint32_t m = 1; m < kMembers; ++m) down(m);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choose(group, kAdaptive), 0u);
}

TEST_F(PathSelectorTest, AGroupOfOneIsNoChoiceAndNoTurn) {
  NextHops single = group;
  single.count = 1;
  const std::uint32_t first = choose(group, kRoundRobin);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(choose(single, kRoundRobin), 0u);
  EXPECT_EQ(choose(group, kRoundRobin), (first + 1) % kMembers);
}

// 3,600 flows over weights 1..8: 100 w each, give or take six standard deviations of a binomial draw.
TEST_F(PathSelectorTest, WeightsAreSharesOfTheFlows) {
  std::vector<int> flows(kMembers);
  for (std::uint32_t f = 0; f < 3600; ++f) ++flows[choose(weighted, kWcmp, f)];
  for (std::uint32_t i = 0; i < kMembers; ++i) EXPECT_NEAR(flows[i], 100 * (i + 1), 6 * std::sqrt(100.0 * (i + 1)));
}

TEST_F(PathSelectorTest, SharesAreCountedByMember) {
  for (int i = 0; i < 24; ++i) choose(group, kRoundRobin);
  for (std::uint32_t i = 0; i < kMembers; ++i) {
    EXPECT_EQ(selector.shares()[group.first + i].packets.read(), 3u);
    EXPECT_EQ(selector.shares()[group.first + i].octets.read(), 3000u);
    EXPECT_EQ(selector.shares()[weighted.first + i].packets.read(), 0u);
  }
}

// ---- A member is lost ----------------------------------------------------------------------------------------------

TEST_F(PathSelectorTest, OnlyTheLostMembersFlowsMoveAndTheyComeBack) {
  for (const Class k : {kEcmp, kWcmp}) {
    const NextHops& hops = k == kWcmp ? weighted : group;
    const PortIndex lost = table.member(hops, 3);
    std::vector<std::uint32_t> before;
    for (std::uint32_t f = 0; f < 1000; ++f) before.push_back(choose(hops, k, f));
    selector.set_up(lost, false);
    std::map<std::uint32_t, int> heirs;
    for (std::uint32_t f = 0; f < 1000; ++f) {
      const std::uint32_t now = choose(hops, k, f);
      EXPECT_NE(now, 3u);
      if (before[f] == 3)
        ++heirs[now];
      else
        EXPECT_EQ(now, before[f]) << "a flow of another member has moved";
    }
    EXPECT_EQ(heirs.size(), kMembers - 1) << "all that are left share what it had";
    selector.set_up(lost, true);
    for (std::uint32_t f = 0; f < 1000; ++f) EXPECT_EQ(choose(hops, k, f), before[f]);
  }
}

// Hashed anew over seven members, a flow stays where it was with probability 1/7: of 875 flows of the others 750 move.
TEST_F(PathSelectorTest, WithoutResilienceAllFlowsAreHashedAnew) {
  config.resilient = false;
  make();
  std::vector<std::uint32_t> before;
  for (std::uint32_t f = 0; f < 1000; ++f) before.push_back(choose(group, kEcmp, f));
  down(3);
  int moved = 0;
  for (std::uint32_t f = 0; f < 1000; ++f) {
    const std::uint32_t now = choose(group, kEcmp, f);
    EXPECT_NE(now, 3u);
    moved += before[f] != 3 && now != before[f];
  }
  EXPECT_NEAR(moved, 750, 6 * 11);
}

TEST_F(PathSelectorTest, NoPolicyChoosesAMemberThatIsDown) {
  for (std::uint8_t k = 0; k < kPriorities; ++k) {
    down(0);
    down(5);
    std::set<std::uint32_t> chosen;
    for (std::uint32_t f = 0; f < 500; ++f) chosen.insert(choose(group, Class{k}, f, 1_us * f));
    EXPECT_EQ(chosen, (std::set<std::uint32_t>{1, 2, 3, 4, 6, 7})) << "class " << int{k};
    up(0);
    up(5);
    chosen.clear();
    for (std::uint32_t f = 0; f < 500; ++f) chosen.insert(choose(group, Class{k}, f, 1_ms + 1_us * f));
    EXPECT_EQ(chosen.size(), kMembers) << "class " << int{k};
  }
}

TEST_F(PathSelectorTest, WithNoMemberLeftTheChoiceIsStillAMember) {
  for (std::uint32_t i = 0; i < kMembers; ++i) down(i);
  for (std::uint8_t k = 0; k < kPriorities; ++k) EXPECT_LT(choose(group, Class{k}), kMembers);
}

// ---- Flowlets ------------------------------------------------------------------------------------------------------

TEST_F(PathSelectorTest, AFlowKeepsItsPathUntilItHasBeenSilentForLongerThanTheGap) {
  for (const Class k : {kFlowlet, kPerFlowlet}) {
    Duration now = 1_us;
    const std::uint32_t path = choose(group, k, 1, now);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(choose(group, k, 1, now += 10_us), path) << "as long as the gap is no gap";
    std::set<std::uint32_t> paths;
    for (int i = 0; i < 100; ++i) paths.insert(choose(group, k, 1, now += 10'001_ns));
    EXPECT_EQ(paths.size(), kMembers) << "each of a hundred flowlets anywhere";
  }
}

TEST_F(PathSelectorTest, AFlowletLeavesAMemberThatGoesDown) {
  const std::uint32_t path = choose(group, kFlowlet, 1, 1_us);
  down(path);
  const std::uint32_t other = choose(group, kFlowlet, 1, 2_us);
  EXPECT_NE(other, path);
  up(path);
  EXPECT_EQ(choose(group, kFlowlet, 1, 3_us), other) << "it is where it is";
}

TEST_F(PathSelectorTest, FlowsOfOtherGroupsAndClassesHaveFlowletsOfTheirOwn) {
  // The same flow number in two groups and two classes: 4 independent draws of 8, so all alike for all flows is chance
  // 0.
  int alike = 0;
  for (std::uint32_t f = 0; f < 50; ++f)
    alike += choose(group, kFlowlet, f) == choose(weighted, kFlowlet, f) &&
             choose(group, kFlowlet, f) == choose(group, kPerFlowlet, f);
  EXPECT_LT(alike, 10);
}

// ---- By load -------------------------------------------------------------------------------------------------------

TEST_F(PathSelectorTest, TheLeastLoadedMemberIsTakenAndEqualsInTurn) {
  for (std::uint32_t i = 0; i < kMembers; ++i) load(i, 100 + i % 4);  // members 0 and 4 have least
  for (int i = 0; i < 10; ++i) {
    const std::uint32_t first = choose(group, kLeastLoaded);
    EXPECT_TRUE(first == 0 || first == 4) << first;
    EXPECT_EQ(choose(group, kLeastLoaded), 4 - first);
  }
}

// As many octets take longer to leave by a slow port.
TEST_F(PathSelectorTest, LoadIsTheTimeToDrain) {
  for (std::uint32_t i = 0; i < kMembers; ++i) load(i, 100);
  selector.set_rate(table.member(group, 2), 400_Gbps);
  selector.set_rate(table.member(group, 5), 25_Gbps);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(choose(group, kLeastLoaded), 2u);
  load(2, 401);
  for (int i = 0; i < 50; ++i) {
    const std::uint32_t m = choose(group, kLeastLoaded);
    EXPECT_NE(m, 2u);
    EXPECT_NE(m, 5u);
  }
}

// Bands of 1 us: 49 cells of 256 octets at 100 Gb/s drain in just above it.
TEST_F(PathSelectorTest, AllMembersOfTheBestBandAreAlike) {
  for (std::uint32_t i = 0; i < kMembers; ++i) load(i, i < 3 ? 48 - i : 49 + 100 * i);
  std::map<std::uint32_t, int> chosen;
  for (int i = 0; i < 3000; ++i) ++chosen[choose(group, kAdaptive)];
  ASSERT_EQ(chosen.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_NEAR(chosen[i], 1000, 6 * 26);
}

// Seven members at 100 Gb/s and one at 25: a quarter of what each of the others has, with nothing queued anywhere.
TEST_F(PathSelectorTest, EqualsShareInProportionToTheirRates) {
  selector.set_rate(table.member(group, 6), 25_Gbps);
  std::map<std::uint32_t, int> chosen;
  for (int i = 0; i < 29'000; ++i) ++chosen[choose(group, kAdaptive)];
  for (std::uint32_t i = 0; i < kMembers; ++i) EXPECT_NEAR(chosen[i], i == 6 ? 1000 : 4000, 6 * 60);
}

TEST_F(PathSelectorTest, OnlyPoliciesThatLookAtQueuesAskForThem) {
  EXPECT_TRUE(selector.by_load());
  config.by_class[kLeastLoaded] = config.by_class[kAdaptive] = config.by_class[kPerFlowlet] = {};
  selector.set(config);
  EXPECT_FALSE(selector.by_load());
  EXPECT_TRUE(selector.depends_on_now(Priority{kFlowlet}));
  EXPECT_FALSE(selector.depends_on_now(Priority{kWcmp}));
}

}  // namespace
}  // namespace railyard
