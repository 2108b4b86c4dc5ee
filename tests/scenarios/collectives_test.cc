// Collective operations of whole labs: how long they take, what becomes of them when links fail, and that what is wrong
// with their data is seen.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// `hosts` hosts at one leaf.
std::string at_one_leaf(int hosts, const std::string& keys, const std::string& more = "") {
  return "name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: " + std::to_string(hosts) +
         " }\n" + more + "collectives:\n  - { name: c, " + keys + " }\n";
}

report::CollectiveReport run(const std::string& lab, const std::vector<std::string>& sets = {}) {
  Scenario s(lab, sets);
  s.run_to_the_end();
  s.expect_books_balance();
  EXPECT_EQ(s.report().collectives.size(), 1u);
  return s.report().collectives.at(0);
}

report::CollectiveReport run_right(const std::string& lab, const std::vector<std::string>& sets = {}) {
  const report::CollectiveReport c = run(lab, sets);
  EXPECT_TRUE(c.completed) << c.stalled;
  EXPECT_TRUE(c.verified) << c.wrong;
  return c;
}

class CollectiveRates : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Gbps, CollectiveRates, testing::Values(100, 400, 800), testing::PrintToStringParamName());

// The quantity that users know from nccl-tests, of 64 MiB per rank, against what headers leave of the link.
TEST_P(CollectiveRates, ARingReachesTheFramingLimit) {
  const std::string rate = "defaults.link.rate=" + std::to_string(GetParam()) + "Gbps";
  const report::CollectiveReport c = run_right(at_one_leaf(8, "size: 64MiB"), {rate});
  EXPECT_EQ(c.factor, 1.75);
  // Full packets of 4096 octets, RETH and immediate data per message of 512 KiB.
  const double limit = GetParam() * 1e9 * 524'288 / (524'288 + 128 * 82 + 20);
  EXPECT_NEAR(c.limit_bps, limit, limit / 1e6);
  EXPECT_GT(c.busbw_bps, 0.95 * c.limit_bps);
  EXPECT_LT(c.busbw_bps, c.limit_bps);
  EXPECT_EQ(c.fabric_bytes, 8 * 2 * 7 * (std::uint64_t{64} << 20) / 8);
  EXPECT_EQ(c.retransmitted_packets, 0u);
}

// Ranks at several leaves, as many uplinks as hosts, one flow through each.
TEST(Collectives, ARingOverSpinesReachesItToo) {
  const report::CollectiveReport c = run_right(
      "name: clos\ntopology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 4 }\n"
      "collectives: [ { name: c, size: 8MiB } ]\n");
  EXPECT_GT(c.busbw_bps, 0.95 * c.limit_bps);
}

TEST(Collectives, AnAllReduceIsAReduceScatterAndAnAllGather) {
  for (const char* keys : {"size: 8MiB", "size: 1MiB, chunk: 32KiB, channels: 2"}) {
    const std::string size = keys;
    const double all = static_cast<double>(*run_right(at_one_leaf(8, size)).median_ns);
    const double scatter =
        static_cast<double>(*run_right(at_one_leaf(8, size + ", collective: reduce-scatter")).median_ns);
    const double gather = static_cast<double>(*run_right(at_one_leaf(8, size + ", collective: all-gather")).median_ns);
    EXPECT_NEAR(all, scatter + gather, 0.02 * all) << keys;
  }
}

struct Fit {
  double a = 0;
  double b = 0;
  double r2 = 0;
};
// Least squares: y = a + b x.
Fit fit(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i], sy += y[i];
    sxx += x[i] * x[i], sxy += x[i] * y[i], syy += y[i] * y[i];
  }
  const double covariance = n * sxy - sx * sy;
  const double b = covariance / (n * sxx - sx * sx);
  return {(sy - b * sx) / n, b, covariance * covariance / ((n * sxx - sx * sx) * (n * syy - sy * sy))};
}

// A message so small that latency is all: as many ways as the algorithm is deep.
TEST(Collectives, SmallMessagesTakeTimeByTheDepthOfTheirAlgorithm) {
  const auto times = [](const char* algorithm, bool logarithm) {
    std::vector<double> x;
    std::vector<double> y;
    for (const int n : {2, 4, 8, 16, 32}) {
      x.push_back(logarithm ? std::log2(n) : n);
      y.push_back(static_cast<double>(
          *run_right(at_one_leaf(n, std::string("size: 256B, algorithm: ") + algorithm)).median_ns));
    }
    return fit(x, y);
  };
  const Fit ring = times("ring", false);
  EXPECT_GE(ring.r2, 0.99);
  const Fit tree = times("tree", true);
  EXPECT_GE(tree.r2, 0.99);
  const Fit halving = times("halving-doubling", true);
  EXPECT_GE(halving.r2, 0.99);
  // Each rank more is two more ways in a ring, each doubling two more in a tree.
  EXPECT_NEAR(ring.b, tree.b, 0.1 * ring.b);
  EXPECT_NEAR(halving.b, tree.b, 0.1 * tree.b);
}

TEST(Collectives, EveryOperationOverAWholeFabric) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* keys :
         {"collective: all-reduce, algorithm: tree, channels: 2", "collective: all-reduce, algorithm: halving-doubling",
          "collective: all-reduce, algorithm: hierarchical-ring", "collective: reduce-scatter, algorithm: halving",
          "collective: all-gather, algorithm: doubling, datatype: uint64", "collective: broadcast, root: 3",
          "collective: broadcast, algorithm: ring", "collective: all-to-all", "channels: 3, ip: 6, path-mtu: 1024"}) {
      const report::CollectiveReport c = run_right(
          std::string("name: all\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
                      "collectives: [ { name: c, size: 192KiB, chunk: 8KiB, repeats: 3, ") +
              keys + " } ]\n",
          {payload});
      EXPECT_EQ(c.iterations.size(), 3u) << keys;
    }
}

TEST(Collectives, WhatEachRankAddsTakesItsTime) {
  const auto time = [](const char* more) {
    return static_cast<double>(*run_right(at_one_leaf(4, std::string("size: 4KiB") + more)).median_ns);
  };
  // Three additions of 1 KiB in a row.
  EXPECT_NEAR(time(", reduce-rate: 1Gbps") - time(""), 3 * 8192, 200);
}

constexpr const char* kRepeated =
    "name: flapping\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
    "hosts: { default: { roce: { ack-timeout: 4 } } }\n"
    "collectives: [ { name: c, size: 2MiB, chunk: 64KiB, repeats: 4 } ]\n";

TEST(Collectives, ALinkThatFlapsCostsTimeAndNoData) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    const report::CollectiveReport calm = run_right(kRepeated, {payload});
    const report::CollectiveReport c =
        run_right(kRepeated, {payload, "faults=[{ name: flap, on: h3:1, at: 500us, down: true, for: 200us }]"});
    EXPECT_GT(c.retransmitted_packets, 0u);
    EXPECT_GT(*c.max_ns, *calm.max_ns + 150'000);
    EXPECT_EQ(calm.retransmitted_packets, 0u);
    EXPECT_LT(*c.min_ns, *calm.max_ns);
  }
}

TEST(Collectives, LossCostsTimeAndNoData) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* recovery : {"go-back-n", "selective-repeat"}) {
      const report::CollectiveReport c =
          run_right(kRepeated, {payload, "faults=[{ name: lossy, on: leaf1, loss: 1% }]",
                                std::string("hosts.default.roce.loss-recovery=") + recovery});
      EXPECT_GT(c.retransmitted_packets, 50u);
    }
}

TEST(Collectives, OneThatStandsStillSaysWhereAndWhoIsWaitedFor) {
  const report::CollectiveReport c =
      run(kRepeated, {"faults=[{ name: cut, on: h3:1, at: 500us, down: true }]", "collectives.c.repeats=50"});
  EXPECT_FALSE(c.completed);
  EXPECT_FALSE(c.verified);
  EXPECT_EQ(c.wrong_bytes, 0u);
  EXPECT_NE(c.stalled.find(": waiting for rank "), std::string::npos) << c.stalled;
  EXPECT_NE(c.stalled.find("(h3)"), std::string::npos) << c.stalled;
  EXPECT_NE(c.stalled.find("RETRY_EXC_ERR"), std::string::npos) << c.stalled;
  EXPECT_GT(c.iterations.size(), 1u);
  EXPECT_TRUE(c.iterations.front().time_ns.has_value());
  EXPECT_FALSE(c.iterations.back().time_ns.has_value());
}

TEST(Collectives, TrafficThatEndsBeforeItsRepeatsLeavesItIncomplete) {
  const report::CollectiveReport c = run(kRepeated, {"run.duration=500us", "collectives.c.repeats=50"});
  EXPECT_FALSE(c.completed);
  EXPECT_EQ(c.stalled, "traffic ended before all iterations were started");
}

TEST(Collectives, SeveralAtOnceShareNicsWithFlowsAndFrames) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    Scenario s(R"(
name: several
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }
collectives:
  - { name: sum, size: 1MiB, repeats: 2 }
  - { name: spread, collective: broadcast, size: 500KB, ranks: [h8, h2, h5] }
  - { name: swap, collective: all-to-all, size: 640KB, start: 20us, channels: 2 }
traffic:
  - { name: messages, from: h1, to: h2, transport: roce, bytes: 4MB }
  - { name: frames, from: h1, to: h2, bytes: 1MiB }
)",
               {payload});
    s.run_to_the_end();
    const report::Report r = s.report();
    ASSERT_EQ(r.collectives.size(), 3u);
    for (const report::CollectiveReport& c : r.collectives) EXPECT_TRUE(c.verified) << c.name << c.stalled << c.wrong;
    EXPECT_GE(r.collectives[2].iterations[0].start_ns, 20'000);
    EXPECT_EQ(r.collectives[1].ranks, (std::vector<std::string>{"h8", "h2", "h5"}));
    for (const report::FlowReport& f : r.flows) {
      EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
      EXPECT_EQ(f.corrupted, 0u);
      EXPECT_EQ(f.in_flight + f.lost, 0u);
    }
    EXPECT_NE(r.text().find("verified"), std::string::npos);
    s.expect_books_balance();
  }
}

// Computing for 1 ms, of which the backward pass is 600 us, and 8 MiB of gradients at 100 Gb/s: 1.2 ms of link.
TEST(Collectives, AStepOfTrainingHidesWhatItCan) {
  const auto job = [](const std::string& keys) {
    const report::CollectiveReport c =
        run_right(at_one_leaf(8, "size: 8MiB, chunk: 64KiB, repeats: 4, forward: 400us, backward: 600us" + keys));
    EXPECT_EQ(c.busbw_bps, 0);
    return c;
  };
  const report::CollectiveReport::Job one = *job("").job;
  EXPECT_EQ(one.compute_ns, 1'000'000);
  EXPECT_NEAR(one.utilisation, 1 / 2.2, 0.02);  // 1 ms of 2.2
  EXPECT_NEAR(one.overlap.value_or(-9), 0, 0.03);
  // All but the first bucket's wait is hidden: 450 us of 1.2 ms.
  const report::CollectiveReport::Job four = *job(", buckets: 4").job;
  EXPECT_NEAR(four.utilisation, 1 / 1.75, 0.03);
  EXPECT_NEAR(four.overlap.value_or(-9), 0.45 / 1.2, 0.04);
  // Everybody waits for the slowest: 178 us is what the slowest of eight takes longer in the mean. Whoever has its sums early begins
  // the next step early, so that half of it is made up for.
  EXPECT_GT(*job(", buckets: 4, jitter: 20%").median_ns, *job(", buckets: 4").median_ns + 70'000);
}

// Flat, the ring crosses the spine at every hop if its ranks are placed so; in two phases, once per leaf and part.
TEST(Collectives, TwoPhasesSpareAnOversubscribedSpine) {
  Scenario flat = Scenario::ready("hierarchical-vs-ring");
  flat.run_to_the_end();
  const std::vector<report::CollectiveReport> c = flat.report().collectives;
  ASSERT_EQ(c.size(), 2u);
  for (const report::CollectiveReport& one : c) EXPECT_TRUE(one.verified) << one.name;
  EXPECT_LT(c[0].busbw_bps, 0.35 * c[1].busbw_bps) << "symptom";
  EXPECT_LT(c[0].share_of_limit(), 0.26);
  for (const report::PortReport& p : flat.report().ports)
    if (p.is_switch && p.node.starts_with("leaf")) {
      EXPECT_EQ(p.counters.classes[3].ecn_marked > 0, p.port == 5) << "cause: " << p.node << ":" << p.port;
    }

  EXPECT_TRUE(flat.shows_its_diagnosis());

  Scenario fixed = Scenario::healed("hierarchical-vs-ring");
  fixed.run_to_the_end();
  EXPECT_FALSE(fixed.shows_its_diagnosis());
  const report::CollectiveReport in_order = fixed.report().collectives.at(0);
  EXPECT_TRUE(in_order.verified);
  EXPECT_GT(in_order.share_of_limit(), 0.9);
}

TEST(Collectives, TheShippedAllReduceOnRailsSurvivesItsFlap) {
  for (const bool real : {false, true}) {
    std::vector<std::string> sets;
    if (real) sets = {"run.payload=real", "collectives.rail1=", "collectives.rail3=", "collectives.rail4="};
    Scenario s = Scenario::ready("allreduce-rails", sets);
    s.run_to_the_end();
    std::size_t slow = 0;
    for (const report::CollectiveReport& c : s.report().collectives) {
      EXPECT_TRUE(c.verified) << c.name << c.stalled << c.wrong;
      EXPECT_GT(c.share_of_limit(), c.name == "rail2" ? 0.5 : 0.95) << c.name;
      EXPECT_EQ(c.retransmitted_packets > 0, c.name == "rail2");
      slow += *c.max_ns > *c.min_ns + 100'000 ? 1u : 0u;
    }
    EXPECT_EQ(slow, 1u);  // the rail with the link
  }
}

// Everything that could disagree: several algorithms at once, loss, marks and CNPs. Eight timeouts are longer than QPs
// wait that DCQCN has slowed down and PFC holds back.
std::uint64_t digest(std::size_t workers, const std::vector<std::string>& sets = {}) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  Scenario s(R"(
name: everything
qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: { kmin: 20KB, kmax: 200KB, pmax: 10% } } } } }
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4 }
hosts: { default: { roce: { congestion: dcqcn, dcqcn: { profile: vendor }, ack-timeout: 7, ack-every: 16 } } }
collectives:
  - { name: sum, algorithm: hierarchical-ring, size: 1MiB, chunk: 32KiB, repeats: 2, reduce-rate: 400Gbps }
  - { name: tree, algorithm: tree, size: 200KB, channels: 2, chunk: 20KB, gap: 3us, repeats: 3 }
  - { name: swap, collective: all-to-all, size: 480KB, repeats: 3 }
traffic:
  - { name: incast, pattern: incast, fan-in: 6, to: h1, transport: roce, message: 64KB, outstanding: 2, bytes: 500KB }
faults:
  - { name: lossy, on: spine1:2, loss: 0.1% }
)",
             sets, config);
  s.run_to_the_end();
  s.expect_books_balance();
  std::uint64_t cnps = 0;
  std::uint64_t again = 0;
  for (const report::CollectiveReport& c : s.report().collectives) {
    EXPECT_TRUE(c.verified) << c.name << c.stalled << c.wrong;
    cnps += c.cnp_handled;
    again += c.retransmitted_packets;
  }
  EXPECT_GT(cnps, 10u);
  EXPECT_GT(again, 0u);
  return s.digest();
}

TEST(Collectives, OneResultOnAnyNumberOfWorkers) {
  const std::uint64_t one = digest(1);
  for (std::size_t workers = 2; workers <= 4; ++workers) EXPECT_EQ(digest(workers), one) << workers;
  EXPECT_NE(digest(1, {"run.seed=2"}), one);
}

}  // namespace
}  // namespace railyard::test
