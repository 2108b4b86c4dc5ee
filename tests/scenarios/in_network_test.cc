// Collectives that switches reduce: their time, what links carry, and that the data are right.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

// Full packets of 4096 in 4178.
constexpr double kRate = 392e9;

// `leaves` leaves of four hosts, all links of 400 Gb/s, and two spines; PFC alone.
std::string lab_of(int leaves, const std::string& keys, const std::string& reduction = "{}") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: " + std::to_string(leaves) +
         ", spines: 2, hosts-per-leaf: 4 }\ndefaults: { link: { rate: 400Gbps, cable: 3m } }\n"
         "hosts: { default: { roce: { congestion: none } } }\nswitches: { default: { reduction: " +
         reduction + " } }\ncollectives: [ { name: c, algorithm: in-network, " + keys + " } ]\n";
}

report::CollectiveReport run(const std::string& lab, const std::vector<std::string>& sets = {}) {
  return Scenario(lab, sets).run_collectives().at(0);
}
double seconds(const report::CollectiveReport& c) { return static_cast<double>(*c.median_ns) / 1e9; }

// S over the rate of a link, however many ranks there are; and busbw, which counts the traffic of a ring, is above the link's
// rate by 2 (n - 1) / n.
TEST(InNetworkReduction, TakesAsLongAsSendingTheDataOnce) {
  for (const int leaves : {1, 2, 4})
    for (const char* operation : {"all-reduce", "reduce", "broadcast"}) {
      SCOPED_TRACE(std::string(operation) + " of " + std::to_string(4 * leaves));
      const report::CollectiveReport c = run(lab_of(leaves, std::string("size: 64MB, collective: ") + operation));
      EXPECT_GE(seconds(c), 64e6 * 8 / kRate);
      EXPECT_LE(seconds(c), 1.03 * 64e6 * 8 / kRate);
      const double n = 4.0 * leaves;
      if (c.factor > 1) {
        EXPECT_NEAR(c.busbw_bps, 2 * (n - 1) / n * kRate, 0.03 * 2 * kRate);
        EXPECT_NEAR(c.limit_bps, 2 * (n - 1) / n * kRate, 0.01 * 2 * kRate);
      }
    }
}

// All go up, one block comes down; and the reverse.
TEST(InNetworkReduction, ReduceScatterAndAllGatherTakeTheLongerDirection) {
  for (const char* operation : {"reduce-scatter", "all-gather"}) {
    const report::CollectiveReport c = run(lab_of(2, std::string("size: 64MB, collective: ") + operation));
    // An all-gather gets 7/8 of it from others.
    const double octets = std::string(operation) == "all-gather" ? 64e6 * 7 / 8 : 64e6;
    EXPECT_GE(seconds(c), octets * 8 / kRate) << operation;
    EXPECT_LE(seconds(c), 1.08 * octets * 8 / kRate) << operation;
  }
}

// Data frames have 82 octets of headers, and a message's last one 20 more; what is beyond that are acknowledgements.
TEST(InNetworkReduction, EachLinkOfTheTreeCarriesTheDataOnceInEachDirection) {
  Scenario s(lab_of(2, "size: 16MiB"));
  s.run_collectives();
  const double once = 16.0 * 1024 * 1024 * 4178 / 4096;
  const auto carried = [&](const std::string& port, bool out) {
    double all = 0;
    for (int k = 0; k < 8; ++k) {
      const ClassCounters c = s.at(port, k);
      all += static_cast<double>(out ? c.tx_octets : c.rx_octets);
    }
    return all;
  };
  for (const char* port : {"leaf1:1", "leaf1:4", "leaf2:2", "leaf1:5", "leaf2:5"})
    for (const bool out : {false, true}) {
      EXPECT_GE(carried(port, out), 0.99 * once) << port;
      EXPECT_LE(carried(port, out), 1.03 * once) << port;
    }
  EXPECT_LT(carried("leaf1:6", true), 1000) << "the tree has one spine";
}

// One tree for each channel: with as many as spines all of them have their share.
TEST(InNetworkReduction, ChannelsTakeTurnsWithTheSpines) {
  Scenario s(lab_of(2, "size: 16MiB, channels: 2"));
  s.run_collectives();
  for (const char* port : {"leaf1:5", "leaf1:6"}) EXPECT_NEAR(static_cast<double>(s.at(port, 3).tx_octets), 8.6e6, 0.3e6) << port;
}

// Up and down two levels: three messages in sequence wait for a reducer.
TEST(InNetworkReduction, SmallSizesTakeTheLatencyOfEachLevel) {
  const auto time = [](const std::string& keys, const std::string& reduction) {
    return static_cast<double>(*run(lab_of(4, keys, reduction)).median_ns);
  };
  const double at_once = time("size: 4KiB", "{}");
  EXPECT_NEAR(time("size: 4KiB", "{ latency: 1us }"), at_once + 3000, 2);
  EXPECT_LT(at_once, 20'000);
  Scenario ring(lab_of(4, "size: 4KiB"), {"collectives.c.algorithm=ring"});
  EXPECT_GT(static_cast<double>(*ring.run_collectives().at(0).median_ns), 5 * at_once) << "30 steps";
}

// A reducer of one port's rate takes in the data of four hosts and a spine in turn, and sends to them.
TEST(InNetworkReduction, ASlowReducerIsTheLimit) {
  const report::CollectiveReport c = run(lab_of(2, "size: 16MB", "{ rate: 400Gbps }"));
  EXPECT_GE(seconds(c), 5 * 16e6 * 8 / kRate);
  EXPECT_LE(seconds(c), 1.1 * 5 * 16e6 * 8 / kRate);
}

TEST(InNetworkReduction, BringsTheRightOctetsToAllRanks) {
  for (const char* transport : {"roce", "uet"})
    for (const char* payload : {"run.payload=elided", "run.payload=real"})
      for (const char* operation : {"all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce"}) {
        const bool rooted = std::string(operation) == "broadcast" || std::string(operation) == "reduce";
        SCOPED_TRACE(std::string(transport) + " " + payload + " " + operation);
        const report::CollectiveReport c =
            run(lab_of(2, std::string("size: 256KiB, repeats: 4, gap: 2us, channels: 2, datatype: uint64, transport: ") + transport +
                              ", collective: " + operation + (rooted ? ", root: 5" : "")),
                {payload});
        EXPECT_TRUE(c.verified) << c.wrong;
        EXPECT_EQ(c.ranks.size(), 8u);
      }
}

// Four GPUs behind four NICs of each host: what leaves a host is its sum, a quarter of it over each NIC.
TEST(InNetworkReduction, HostsWithAScaleUpNetworkSendTheirSum) {
  const std::string lab =
      "name: x\ntopology: { preset: rail-optimized, hosts: 4, rails: 4, spines: 2, host-link: { rate: 400Gbps, cable: 3m }, "
      "fabric-link: { rate: 400Gbps, cable: 3m } }\n"
      "hosts: { default: { scale-up: { rate: 3600Gbps }, gpus: 4, roce: { congestion: none } } }\n"
      "switches: { default: { reduction: {} } }\ncollectives: [ { name: c, algorithm: in-network, size: 64MB } ]\n";
  for (const char* channels : {"collectives.c.channels=1", "collectives.c.channels=4"}) {
    const report::CollectiveReport c = run(lab, {channels});
    EXPECT_EQ(c.ranks.size(), 16u);
    EXPECT_GE(seconds(c), 16e6 * 8 / kRate) << channels;
    EXPECT_LE(seconds(c), 1.2 * 16e6 * 8 / kRate) << channels;
  }
}

// GPUs of one scale-up network whose switches reduce, as NVLS: each sends S, and the sum of its part to all others. The network
// is of one host, or of two.
TEST(InNetworkReduction, ScaleUpNetworksReduceAsNvlsDoes) {
  for (const char* hosts : {"1", "2"})
    for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
      SCOPED_TRACE(std::string(hosts) + " " + payload);
      const int n = 8 * std::stoi(hosts);
      const std::string size = std::string(payload) == "run.payload=real" ? "1MiB" : "64MiB";
      Scenario s("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: " + std::string(hosts) +
                     " }\nhosts: { default: { gpus: 8, scale-up: { rate: 3600Gbps, reduces: true, hosts: " + hosts +
                     " } } }\ncollectives: [ { name: c, algorithm: in-network, repeats: 2, size: " + size + " } ]\n",
                 {payload});
      const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
      ASSERT_TRUE(estimated) << estimated.error();
      const report::CollectiveReport c = s.run_collectives().at(0);
      EXPECT_EQ(c.ranks.size(), static_cast<std::size_t>(n));
      EXPECT_NEAR(static_cast<double>(estimated->collectives[0].time.ps) / 1e12, seconds(c), 0.05 * seconds(c));
      if (size == "1MiB") continue;
      const double once = 64.0 * 1024 * 1024 * 8 / 3600e9;
      EXPECT_GE(seconds(c), once * (1 + 1.0 / n));
      EXPECT_LE(seconds(c), 1.1 * once * (1 + 1.0 / n));
    }
}

// Two hosts: the sum of each over its NICs, of which each has an eighth.
TEST(InNetworkReduction, HostsWhoseScaleUpNetworksReduceSendTheirSum) {
  const report::CollectiveReport c = run(
      "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 8, spines: 1, host-link: { rate: 400Gbps, cable: 3m }, "
      "fabric-link: { rate: 400Gbps, cable: 3m } }\n"
      "hosts: { default: { scale-up: { rate: 3600Gbps, reduces: true }, gpus: 8, roce: { congestion: none } } }\n"
      "switches: { default: { reduction: {} } }\ncollectives: [ { name: c, algorithm: in-network, size: 64MB } ]\n");
  EXPECT_GE(seconds(c), 8e6 * 8 / kRate);
  EXPECT_LE(seconds(c), 1.3 * (8e6 * 8 / kRate + 64e6 * 8 / 3600e9));
}

// Two hosts of four GPUs whose switches and scale-up networks reduce.
std::string lab_with_job(const std::string& keys) {
  return "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 2, host-link: { rate: 100Gbps, cable: 3m }, "
         "fabric-link: { rate: 100Gbps, cable: 30m } }\n"
         "hosts: { default: { gpus: 4, scale-up: { rate: 800Gbps, latency: 1us, reduces: true } } }\n"
         "switches: { default: { reduction: {} } }\njobs:\n"
         "  - { name: j, algorithm: in-network, steps: 3, chunk: 16KiB, forward: 20us, backward: 40us, " + keys + ",\n"
         "      model: { layers: 4, hidden: 64, heads: 4, feed-forward: 128, vocabulary: 256, sequence: 64 } }\n";
}

// Collectives of one rank's program are in its part of the reducers' memory each, and several of them go on at once.
TEST(InNetworkReduction, BringsTheRightOctetsToTheRanksOfJobs) {
  for (const char* job : {"parallelism: { tp: 4, dp: 2 }, microbatches: 2",                         // in hosts, and between them
                          "parallelism: { tp: 2, dp: 4 }, sharding: zero-1",
                          "parallelism: { dp: 8 }, sharding: zero-3, segments: 2, microbatches: 2",
                          "parallelism: { tp: 2, pp: 2, dp: 2 }, microbatches: 4, sequence-parallel: true",
                          "parallelism: { dp: 2, tp: 4, order: [dp, tp, pp, cp] }"})
    for (const char* payload : {"elided", "real"})
      for (const char* transport : {"roce", "uet"}) {
        SCOPED_TRACE(std::string(job) + " " + payload + " " + transport);
        Scenario s(lab_with_job(job), {std::string("run.payload=") + payload, std::string("jobs.j.transport=") + transport});
        const report::CollectiveReport c = s.run_collectives().at(0);
        EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
        EXPECT_EQ(c.iterations.size(), 3u);
        EXPECT_EQ(c.ranks.size(), 8u);
      }
}

// Gradients go to the switches once and come back once, where a ring sends 2 (n - 1) / n of them.
TEST(InNetworkReduction, AStepOfDataParallelismIsItsClosedForm) {
  const std::string lab =
      "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
      "defaults: { link: { rate: 400Gbps, cable: 3m } }\nhosts: { default: { roce: { congestion: none } } }\n"
      "switches: { default: { reduction: {} } }\njobs:\n  - { name: j, forward: 1ms, backward: 2ms, segments: 1, overlap: false,\n"
      "      model: { layers: 4, hidden: 512, heads: 8, feed-forward: 2048, vocabulary: 0, sequence: 64 }, chunk: 64KiB";
  Scenario s(lab + ", algorithm: in-network }\n");
  const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
  ASSERT_TRUE(estimated) << estimated.error();
  const report::CollectiveReport c = s.run_collectives().at(0);
  const double once = static_cast<double>(c.bytes) * 8 / kRate;
  EXPECT_GE(seconds(c), 3e-3 + once);
  EXPECT_LE(seconds(c), 3e-3 + 1.05 * once);
  EXPECT_NEAR(static_cast<double>(estimated->collectives[0].time.ps) / 1e12, seconds(c), 0.03 * once);
  Scenario ring(lab + " }\n");
  EXPECT_GE(seconds(ring.run_collectives().at(0)), 3e-3 + 1.75 * once);
}

// What only stores sends nothing to reducers, and has its class.
TEST(InNetworkReduction, AJobStoresBesides) {
  Scenario s(lab_with_job("parallelism: { dp: 2, tp: 2 }, storage: [\"h2:3\", \"h2:4\"], storage-dscp: 8, checkpoint: { every: 1 }"));
  const report::CollectiveReport c = s.run_collectives().at(0);
  EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
}

TEST(InNetworkReduction, IsTheSameOnAnyNumberOfWorkers) {
  const auto digest = [](std::size_t workers) {
    EngineConfig config;
    config.workers = workers;
    config.digest = true;
    Scenario s = Scenario::with_clocks(lab_of(2, "size: 256KiB, repeats: 2"), {}, config);
    s.run_collectives();
    return s.digest();
  };
  EXPECT_EQ(digest(1), digest(3));
}

TEST(InNetworkReduction, AReducerThatLosesAFrameHasItAgain) {
  const report::CollectiveReport c =
      run(lab_of(2, "size: 1MiB"), {"faults=[{ on: \"leaf1-reducer:1\", loss: 1%, name: f }]"});
  EXPECT_TRUE(c.verified);
  EXPECT_GT(c.retransmitted_packets, 0u);
}

TEST(InNetworkReduction, TheEstimateIsNearTheRun) {
  for (const char* transport : {"roce", "uet"})
    for (const char* operation : {"all-reduce", "all-gather"}) {
      Scenario s(lab_of(4, std::string("size: 64MB, transport: ") + transport + ", collective: " + operation));
      const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
      ASSERT_TRUE(estimated) << estimated.error();
      EXPECT_EQ(estimated->collectives[0].ranks, 16u);
      const double ran = seconds(s.run_collectives().at(0)) * 1e12;
      EXPECT_NEAR(static_cast<double>(estimated->collectives[0].time.ps), ran, 0.05 * ran) << transport << " " << operation;
    }
}

TEST(InNetworkReduction, IsTwiceAsFastAsARingInTheScenario) {
  Scenario s = Scenario::ready("in-network-reduction");
  const std::vector<report::CollectiveReport> c = s.run_collectives();
  EXPECT_GT(seconds(c[0]), 1.75 * seconds(c[2]));
  EXPECT_GT(seconds(c[1]), 1.75 * seconds(c[2]));
  EXPECT_GT(c[2].busbw_bps, 1.75 * 400e9);
  EXPECT_GT(seconds(c[3]), 4 * seconds(c[4]));
}

}  // namespace
}  // namespace railyard::test
