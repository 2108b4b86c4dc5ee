// What each path policy promises, with figures: the fabric files of topologies/scenarios/ that show them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// The group of `node` that carried most.
report::PathGroupReport main_group(Scenario& s, const std::string& node) {
  report::PathGroupReport most;
  for (const report::PathGroupReport& g : s.report().path_groups)
    if (g.node == node && (most.members.empty() || g.bytes() > most.bytes())) most = g;
  return most;
}

std::uint64_t reordered(Scenario& s) {
  std::uint64_t n = 0;
  for (const build::Flow& f : s.lab().flows()) n += f.received().reordered;
  return n;
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

// ---- A member that is lost ----------------------------------------------------------------------------------------

// Which uplinks of leaf1 each flow has taken.
class Uplinks final : public Tap {
 public:
  Uplinks(std::map<std::uint64_t, std::set<int>>& taken, int uplink) : taken_(taken), uplink_(uplink) {}
  void see(Instant, const Packet& p, const TapNote& note) override {
    if (note.event == TapNote::Event::kSent) taken_[p.stream].insert(uplink_);
  }

 private:
  std::map<std::uint64_t, std::set<int>>& taken_;
  int uplink_;
};

// Of 64 flows over four uplinks those of the lost one move, a quarter or so; without resilience most of the others as
// well: hashed anew over three, a flow stays where it was with a chance of one in three.
TEST(Ecmp, AMemberThatIsLostMovesItsOwnFlowsOnly) {
  for (const bool resilient : {true, false}) {
    Scenario s = Scenario::ready("ecmp-resilience",
                                 {std::string("switches.default.ecmp.resilient=") + (resilient ? "true" : "false")});
    std::map<std::uint64_t, std::set<int>> taken;
    std::vector<std::unique_ptr<Uplinks>> taps;
    for (int port = 5; port <= 8; ++port) {
      taps.push_back(std::make_unique<Uplinks>(taken, port));
      s.sw("leaf1").tap(PortIndex{static_cast<std::uint16_t>(port - 1)}, taps.back().get());
    }
    s.run_until(299_us);
    ASSERT_EQ(taken.size(), 64u);
    for (const auto& [flow, uplinks] : taken) EXPECT_EQ(uplinks.size(), 1u) << "one way each";
    const auto before = taken;
    s.run_until(310_us);  // what was under way is gone
    taken.clear();
    s.run_to_the_end();
    int of_lost = 0;
    int others_moved = 0;
    for (const auto& [flow, uplinks] : taken) {
      EXPECT_EQ(uplinks.size(), 1u);
      EXPECT_FALSE(uplinks.contains(6)) << "down";
      if (before.at(flow).contains(6))
        ++of_lost;
      else if (uplinks != before.at(flow))
        ++others_moved;
    }
    EXPECT_GT(of_lost, 4);
    EXPECT_LT(of_lost, 32);
    if (resilient)
      EXPECT_EQ(others_moved, 0);
    else
      EXPECT_GT(others_moved, 20);
  }
}

// ---- ECMP ----------------------------------------------------------------------------------------------------------

// Eight balls in eight bins have 2.6 in the fullest on average; 256 have 40.2, 1.26 times the mean of 32.
double mean_collisions(int queue_pairs) {
  constexpr int kSeeds = 100;
  double sum = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Scenario s = Scenario::ready("ecmp-collisions", {"run.seed=" + std::to_string(seed),
                                                     "traffic.pairs.flows=" + std::to_string(queue_pairs),
                                                     "traffic.pairs.bytes=4096B"});
    s.run_to_the_end();
    sum += main_group(s, "leaf1").max_over_mean();
  }
  return sum / kSeeds;
}

TEST(EcmpCollisions, FewFlowsCollideAndManyEvenOut) {
  EXPECT_GE(mean_collisions(1), 2.2);
  EXPECT_LE(mean_collisions(32), 1.3);
}

// leaf1 chooses among four, and each of these among four again.
double second_tier_jain(const std::vector<std::string>& overrides) {
  Scenario s = Scenario::ready("ecmp-polarisation", overrides);
  s.run_to_the_end();
  double sum = 0;
  for (const char* node : {"a1", "a2", "a3", "a4"}) sum += main_group(s, node).jain_index();
  return sum / 4;
}

TEST(EcmpPolarisation, EqualSeedsOnTwoTiersUseOneLinkOfFour) { EXPECT_DOUBLE_EQ(second_tier_jain({}), 0.25); }

// 64 flows on 4 links: the variance of a share is 12, so Jain's index is about 256 / (256 + 12) = 0.955.
TEST(EcmpPolarisation, SeedsOfTheirOwnCureIt) { EXPECT_GT(second_tier_jain({"switches.default.ecmp="}), 0.85); }

// ---- WCMP ----------------------------------------------------------------------------------------------------------

// 400 flows at 4:1 put 320 on the first, with a standard deviation of 8.
TEST(Wcmp, FlowsGoInProportionToWhatThePathsCanCarry) {
  Scenario s = Scenario::ready("wcmp");
  s.run_to_the_end();
  const report::PathGroupReport g = main_group(s, "leaf1");
  EXPECT_NEAR(static_cast<double>(g.members.at(0).bytes) / static_cast<double>(g.bytes()), 0.8, 6 * 0.02);
  EXPECT_EQ(reordered(s), 0u) << "a flow is on one path";
}

// The weights of links, where a link of the group has one; the others count as 1.
TEST(Wcmp, WeightsOfLinksComeFirst) {
  Scenario s = Scenario::ready("wcmp", {"links.3=[leaf1:3, spine2:1, { weight: 3 }]"});
  s.run_to_the_end();
  const report::PathGroupReport g = main_group(s, "leaf1");
  EXPECT_NEAR(static_cast<double>(g.members.at(1).bytes) / static_cast<double>(g.bytes()), 0.75, 6 * 0.022);
}

// ---- Flowlets ------------------------------------------------------------------------------------------------------

// 62 bursts of each of 8 flows: 496 balls in 8 bins, the fullest 1.2 times the mean.
TEST(Flowlet, BurstsSpreadAndArriveInOrder) {
  Scenario s = Scenario::ready("flowlet");
  s.run_to_the_end();
  EXPECT_LT(main_group(s, "leaf1").max_over_mean(), 1.4);
  EXPECT_EQ(reordered(s), 0u);
}

TEST(Flowlet, WithoutASilenceLongerThanTheGapAFlowStaysWhereItIs) {
  Scenario s = Scenario::ready("flowlet", {"qos.default.classes.3.path.gap=200us"});
  s.run_to_the_end();
  const report::PathGroupReport g = main_group(s, "leaf1");
  for (const auto& m : g.members) {
    // Whole flows only: all of them sent the same number of packets, or one less.
    const std::uint64_t per_flow = s.lab().flows().front().sent().packets;
    const std::uint64_t flows = (m.packets + per_flow / 2) / per_flow;
    EXPECT_NEAR(static_cast<double>(m.packets), static_cast<double>(flows * per_flow), static_cast<double>(20 * flows));
  }
  EXPECT_GT(g.max_over_mean(), 1.4) << "eight flows on eight paths";
}

// ---- Spraying ------------------------------------------------------------------------------------------------------

TEST(Spray, EveryOrderIsEven) {
  for (const char* order : {"shuffled", "round-robin", "least-loaded", "random"}) {
    Scenario s =
        Scenario::ready("spray", {fmt::format("qos.default.classes.3.path={{ policy: spray, order: {} }}", order)});
    s.run_to_the_end();
    EXPECT_GE(main_group(s, "leaf1").jain_index(), 0.99) << order;
    EXPECT_EQ(s.dropped(), 0u);
  }
}

// Three tiers: 128 hosts in a permutation, all at line rate, so every link has the capacity that the flows behind it
// need. With a fixed order alike senders fall in step: each flow keeps to one path, as with a hash. With an order that
// is drawn anew, or with random choices, no flow does.
std::vector<double> fat_tree_goodputs(const std::string& path, const char* clocks) {
  Scenario s = Scenario::with_clocks(R"(
name: fat-tree
topology: { preset: fat-tree, k: 8 }
defaults: { link: { rate: 100Gbps, cable: 3m } }
traffic: [ { name: t, pattern: permutation, dscp: 26, payload: 4096B } ]
run: { duration: 200us, drain: 5ms }
)",
                                     {"qos={ default: { classes: { 3: { lossless: true, path: " + path + " } } } }",
                                      std::string("hosts.default.clock-error=") + clocks});
  s.run_to_the_end();
  std::vector<double> gbps;
  for (const report::FlowReport& f : s.report().flows) gbps.push_back(f.goodput_bps().value_or(0) / 1e9);
  return gbps;
}

TEST(Spray, OnThreeTiersAPermutationGetsItsLinks) {
  for (const char* clocks : {"100ppm", "0"}) {
    EXPECT_GE(median(fat_tree_goodputs("spray", clocks)), 90.0);
    EXPECT_GE(median(fat_tree_goodputs("{ policy: spray, order: random }", clocks)), 88.0);
  }
  // The least loaded of the local ports says nothing of collisions further on.
  for (const char* path : {"drill", "adaptive"})
    for (const char* clocks : {"100ppm", "0"}) EXPECT_GE(median(fat_tree_goodputs(path, clocks)), 75.0) << path;
}

TEST(Spray, InAFixedOrderFlowsFallInStep) {
  for (const char* order : {"round-robin", "least-loaded"})
    EXPECT_LE(median(fat_tree_goodputs("{ policy: spray, order: " + std::string(order) + " }", "0")), 70.0) << order;
}

// ---- Adaptive ------------------------------------------------------------------------------------------------------

// The 99th percentile of 64 flow completion times is the longest.
double p99_fct(const std::string& path, int seed) {
  Scenario s = Scenario::ready("adaptive-permutation",
                               {"qos.default.classes.3.path=" + path, "run.seed=" + std::to_string(seed)});
  s.run_to_the_end();
  std::int64_t longest = 0;
  for (const report::FlowReport& f : s.report().flows) longest = std::max(longest, f.fct_ns.value());
  return static_cast<double>(longest);
}

TEST(Adaptive, APermutationEndsSoonerThanWithEcmp) {
  std::vector<double> ratios;
  for (int seed = 1; seed <= 20; ++seed) ratios.push_back(p99_fct("adaptive", seed) / p99_fct("ecmp", seed));
  EXPECT_LE(median(ratios), 0.7);
}

TEST(Adaptive, AnUplinkAtAQuarterOfItsRateCarriesLessThanAThirdOfTheMean) {
  for (const char* path : {"adaptive", "{ policy: spray, order: least-loaded }"}) {
    Scenario s = Scenario::ready("adaptive-degraded", {std::string("qos.default.classes.3.path=") + path});
    s.run_to_the_end();
    const report::PathGroupReport g = main_group(s, "leaf1");
    const double mean = static_cast<double>(g.bytes()) / static_cast<double>(g.members.size());
    EXPECT_LE(static_cast<double>(g.members.at(2).bytes), 0.3 * mean) << path;
    EXPECT_GT(g.members.at(2).bytes, 0u) << "but it is used";
    EXPECT_EQ(g.members.at(2).peer, "spine3:1");
  }
}

// All uplinks alike, until a fault has one of them at a quarter of its rate for a while.
TEST(Adaptive, AnUplinkThatAFaultHasDegradedLosesItsShareAndGetsItBack) {
  Scenario s = Scenario::ready("adaptive-degraded",
                               {"links.leaf1:11.rate=100Gbps", "traffic.pairs.bytes=unlimited", "run.duration=700us",
                                "faults=[{ name: slow, on: leaf1:11, at: 200us, for: 200us, rate: 1/4 }]"});
  // Of leaf1:11, in means of all eight.
  const auto share = [&](Duration from, Duration to) {
    const auto sent = [&] {
      std::vector<std::uint64_t> octets;
      for (int port = 9; port <= 16; ++port) octets.push_back(s.at("leaf1:" + std::to_string(port), 3).tx_octets);
      return octets;
    };
    s.run_until(from);
    const std::vector<std::uint64_t> before = sent();
    s.run_until(to);
    const std::vector<std::uint64_t> after = sent();
    double all = 0;
    for (std::size_t i = 0; i < 8; ++i) all += static_cast<double>(after[i] - before[i]);
    return static_cast<double>(after[2] - before[2]) / (all / 8);
  };
  EXPECT_NEAR(share(50_us, 200_us), 1, 0.1);
  const double meanwhile = share(210_us, 400_us);
  EXPECT_LE(meanwhile, 0.3);
  EXPECT_GT(meanwhile, 0.0) << "but it is used";
  EXPECT_NEAR(share(420_us, 700_us), 1, 0.1);
  EXPECT_EQ(s.fault("slow").occurrences, 1u);
  EXPECT_EQ(s.dropped(), 0u);
}

// An average of samples: the same figures, or nearly; and old news makes for deep queues.
TEST(SampledAdaptive, APermutationEndsSoonerThanWithEcmp) {
  std::vector<double> ratios;
  for (int seed = 1; seed <= 9; ++seed)
    ratios.push_back(p99_fct("{ policy: adaptive, sample-every: 1us, average: 1/8 }", seed) / p99_fct("ecmp", seed));
  EXPECT_LE(median(ratios), 0.75);
}

struct Sampled {
  double slow_share;  // of the uplink at a quarter of its rate, in means
  std::uint64_t depth;  // of the deepest queue of an uplink, in octets
};
Sampled sampled(const std::vector<std::string>& sets) {
  Scenario s = Scenario::ready("adaptive-sampled", sets);
  s.run_to_the_end();
  s.expect_books_balance();
  const report::PathGroupReport g = main_group(s, "leaf1");
  EXPECT_EQ(g.members.at(2).peer, "spine3:1");
  EXPECT_GT(g.members.at(2).bytes, 0u) << "but it is used";
  Sampled out{static_cast<double>(g.members.at(2).bytes * g.members.size()) / static_cast<double>(g.bytes()), 0};
  for (int port = 9; port <= 16; ++port)
    out.depth = std::max(out.depth, s.port("leaf1:" + std::to_string(port)).classes[3].max_depth_octets);
  return out;
}

TEST(SampledAdaptive, ASlowUplinkCarriesLessThanAThirdOfTheMean) {
  EXPECT_LE(sampled({}).slow_share, 0.33);
}

TEST(SampledAdaptive, OldNewsMakesForDeepQueues) {
  const std::uint64_t fresh = sampled({}).depth;
  EXPECT_GE(sampled({"qos.default.classes.3.path.sample-every=10us"}).depth, 3 * fresh);
}

// ---- Global load balancing -----------------------------------------------------------------------------------------

constexpr const char* kGlobal = "{ policy: adaptive, global: true }";

// How a path behind which a link is slow was used, and how long the slowest flow took.
struct Behind {
  double share;  // of what leaf1 sent up, by way of spine2
  double p99;    // of 8: the longest
};
Behind behind_spine2(const std::string& path, int seed, const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets{"qos.default.classes.3.path=" + path, "run.seed=" + std::to_string(seed)};
  sets.insert(sets.end(), more.begin(), more.end());
  Scenario s = Scenario::ready("adaptive-global", sets);
  s.run_to_the_end();
  s.expect_books_balance();
  const report::PathGroupReport g = main_group(s, "leaf1");
  EXPECT_EQ(g.members.at(1).peer, "spine2:1");
  Behind b{static_cast<double>(g.members.at(1).bytes) / static_cast<double>(g.bytes()), 0};
  for (const report::FlowReport& f : s.report().flows) b.p99 = std::max(b.p99, static_cast<double>(f.fct_ns.value()));
  return b;
}

// A quarter of the paths, whose second hop carries a thirteenth of what all of them could.
TEST(GlobalLoadBalancing, ASlowLinkBehindTheNextSwitchIsAvoided) {
  std::vector<double> local_share, global_share, ratios;
  for (int seed = 1; seed <= 5; ++seed) {
    const Behind local = behind_spine2("adaptive", seed);
    const Behind global = behind_spine2(kGlobal, seed);
    local_share.push_back(local.share);
    global_share.push_back(global.share);
    ratios.push_back(global.p99 / local.p99);
  }
  EXPECT_GE(median(local_share), 0.2) << "nothing is seen of it here";
  EXPECT_LE(median(global_share), 0.12);
  EXPECT_LE(median(ratios), 0.5);
}

// Nothing is left of most reports: what was heard outlives them, and the next one tells all.
TEST(GlobalLoadBalancing, LostReportsDoLittleHarm) {
  const Behind b = behind_spine2(
      kGlobal, 1, {"faults=[{ name: slow, on: spine2:2, rate: 1/4 }, { name: lossy, on: 'leaf1:10 in', loss: 50% }]"});
  EXPECT_LE(b.share, 0.15);
}

// In a permutation over links that are all alike it is no worse than with local queues only.
TEST(GlobalLoadBalancing, InASymmetricPermutationItIsNoWorse) {
  std::vector<double> ratios;
  for (int seed = 1; seed <= 11; ++seed) ratios.push_back(p99_fct(kGlobal, seed) / p99_fct("adaptive", seed));
  EXPECT_LE(median(ratios), 1.05);
}

// spine2 loses its only way to leaf2. Routing knows nothing of it yet; reports do after some microseconds.
TEST(GlobalLoadBalancing, ADeadEndIsLeftAlone) {
  const auto lost = [](const std::string& path) {
    Scenario s = Scenario::ready("adaptive-global", {"qos.default.classes.3.path=" + path, "faults="});
    s.lab().fabric().link_down_at(Instant{} + 50_us, s.lab().port({"spine2", 2}));
    s.engine().wake_all();
    s.run_to_the_end();
    s.expect_books_balance();
    return s.dropped();
  };
  const std::uint64_t local = lost("adaptive");
  EXPECT_GT(local, 300u) << "a quarter of what is sent from then on";
  EXPECT_LT(lost(kGlobal), local / 10);
}

TEST(GlobalLoadBalancing, ItCanBeTurnedOnWhileTrafficRuns) {
  Scenario s = Scenario::ready("adaptive-global", {"qos.default.classes.3.path=adaptive", "traffic.pairs.bytes=4MB"});
  const auto by_spine2 = [&] { return main_group(s, "leaf1").members.at(1).packets; };
  const auto in = [&](Duration from, Duration until) {
    s.run_until(from);
    const std::uint64_t before = by_spine2();
    s.run_until(until);
    return by_spine2() - before;
  };
  const std::uint64_t local = in(50_us, 150_us);
  s.set_at(200_us, {"qos.default.classes.3.path={ policy: adaptive, global: true, report-every: 2us }"});
  EXPECT_LT(in(300_us, 400_us), local / 2);
  EXPECT_GT(s.port("spine2:1").quality_reports_sent, 3u);
  s.set_at(450_us, {"qos.default.classes.3.path=adaptive"});
  const std::uint64_t reports = (s.run_until(460_us), s.port("spine2:1").quality_reports_sent);
  s.run_to_the_end();
  EXPECT_EQ(s.port("spine2:1").quality_reports_sent, reports);
  s.expect_books_balance();
}

// Reports between switches are nobody else's: a fabric whose classes do not ask sends none.
TEST(GlobalLoadBalancing, NobodyReportsWhoIsNotAsked) {
  Scenario s = Scenario::ready("adaptive-global");
  s.run_to_the_end();
  EXPECT_GT(s.port("spine2:1").quality_reports_sent, 0u);
  EXPECT_EQ(s.port("leaf1:10").quality_reports_received, s.port("spine2:1").quality_reports_sent);
  EXPECT_EQ(s.port("leaf1:10").quality_reports_sent, 0u) << "a spine has one way only to each leaf";
  EXPECT_EQ(s.port("leaf1:1").quality_reports_sent, 0u) << "a host does not choose";
  Scenario quiet = Scenario::ready("adaptive-global", {"qos.default.classes.3.path=adaptive"});
  quiet.run_to_the_end();
  EXPECT_EQ(quiet.port("spine2:1").tx_control, 0u);
}

// ---- A member is lost ----------------------------------------------------------------------------------------------

// leaf1's uplink to spine1 goes down while all flows send: from then on nothing is chosen that way, and what is lost is
// what was queued or on the wire.
TEST(LostMember, NothingIsSentThatWayFromTheInstantOn) {
  for (const char* path :
       {"ecmp", "wcmp", "flowlet", "spray", "{ policy: spray, order: random }",
        "{ policy: spray, order: round-robin }", "{ policy: spray, order: least-loaded }", "adaptive",
        "{ policy: adaptive, per: flowlet }", "drill"}) {
    Scenario s = Scenario::ready("spray", {std::string("qos.default.classes.3.path=") + path,
                                           "traffic.pairs.flows=8", "traffic.pairs.rate=4Gbps"});
    s.lab().fabric().link_down_at(Instant{} + 50_us, s.lab().port({"leaf1", 9}));
    s.engine().wake_all();
    s.run_until(50_us);
    const std::uint64_t before = main_group(s, "leaf1").members.at(0).packets;
    EXPECT_GT(before, 0u) << path;
    s.run_to_the_end();
    EXPECT_EQ(main_group(s, "leaf1").members.at(0).packets, before) << path;
    for (std::size_t i = 1; i < 8; ++i) EXPECT_GT(main_group(s, "leaf1").members.at(i).packets, before) << path;
    s.expect_books_balance();
  }
}

}  // namespace
}  // namespace railyard::test
