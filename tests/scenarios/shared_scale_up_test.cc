// Hosts that share a scale-up network: what their ranks exchange over it, what still takes the fabric, and that no host is
// ever ahead of another one's message.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Hosts of two GPUs, each with a NIC of its own, on two rails; `together` of them share a scale-up network.
std::string racks(int hosts, int together, const std::string& keys, const std::string& latency = "500ns") {
  return "name: racks\ntopology: { preset: rail-optimized, hosts: " + std::to_string(hosts) +
         ", rails: 2, spines: 2 }\nhosts: { default: { gpus: 2, scale-up: { rate: 3600Gbps, latency: " + latency +
         ", hosts: " + std::to_string(together) + " } } }\ncollectives:\n  - { name: c, " + keys + " }\n";
}

report::CollectiveReport run_right(const std::string& lab, const std::vector<std::string>& sets = {}) {
  return Scenario(lab, sets).run_collectives().at(0);
}

// Two networks of two hosts of two: of the eight hops of a ring two leave a network, over each 2 (n - 1) / n of the data.
TEST(SharedScaleUp, OnlyWhatLeavesItTakesTheFabric) {
  constexpr std::uint64_t kSize = 256 * 1024;
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* transport : {"roce", "uet"}) {
      SCOPED_TRACE(std::string(payload) + " " + transport);
      Scenario s(racks(4, 2, std::string("size: 256KiB, chunk: 8KiB, repeats: 3, transport: ") + transport), {payload});
      s.run_to_the_end();
      s.expect_books_balance();
      const report::Report r = s.report();
      const report::CollectiveReport& c = r.collectives.at(0);
      EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
      ASSERT_TRUE(c.scale_up.has_value());
      EXPECT_EQ(c.fabric_bytes, 3u * 2 * 2 * 7 * kSize / 8);
      EXPECT_EQ(c.scale_up->bytes, 3u * 6 * 2 * 7 * kSize / 8);
      EXPECT_GE(c.scale_up->latency_ns.p50, 500u);
      // Four channels, each by another NIC: all hosts send as much.
      std::uint64_t least = ~0ull, most = 0;
      for (const report::PortReport& p : r.ports) {
        if (p.is_switch) continue;
        std::uint64_t octets = 0;
        for (const ClassCounters& k : p.counters.classes) octets += k.tx_octets;
        least = std::min(least, octets);
        most = std::max(most, octets);
      }
      EXPECT_GT(least, 0u);
      EXPECT_LT(static_cast<double>(most), 1.2 * static_cast<double>(least));
    }
}

TEST(SharedScaleUp, RanksOfOneNeedNoNic) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* keys : {"size: 96KiB, chunk: 8KiB, repeats: 3, ranks: [h1, h2, h3]",
                             "size: 96KiB, chunk: 8KiB, repeats: 3, ranks: [\"h1:1\", \"h2:2\", \"h3:1\"]"}) {
      Scenario s(racks(4, 3, keys), {payload});
      s.run_to_the_end();
      s.expect_books_balance();
      const report::Report r = s.report();
      EXPECT_TRUE(r.collectives.at(0).verified) << r.collectives[0].stalled << r.collectives[0].wrong;
      EXPECT_EQ(r.collectives[0].fabric_bytes, 0u);
      for (const report::PortReport& p : r.ports)
        for (const ClassCounters& k : p.counters.classes) EXPECT_EQ(k.tx_packets, 0u) << p.node;
    }
}

// Two ranks of two hosts: rate and latency are what was said, as within a host.
TEST(SharedScaleUp, APipeBetweenHostsTakesItsLatencyAndItsOctetsTime) {
  const report::CollectiveReport c =
      run_right(racks(2, 2, "size: 1MiB, chunk: 512KiB, ranks: [\"h1:1\", \"h2:1\"]", "2us"));
  const double octets = 2 * 512 * 1024 * 8 / 3600e9 * 1e9;
  EXPECT_NEAR(static_cast<double>(*c.median_ns), octets + 2 * 2000, 2);
  EXPECT_EQ(c.scale_up->latency_ns.max, 2000u);
}

// Many to one: who takes in does so at its rate, whatever host it comes from.
TEST(SharedScaleUp, AReceiverTakesInAtItsRate) {
  for (const char* ranks : {"[h1, h2, h3]", "[h1, h3, h2]"}) {
    const report::CollectiveReport c =
        run_right(racks(3, 3, std::string("collective: gather, algorithm: direct, size: 6MiB, chunk: 1MiB, ranks: ") + ranks));
    const double octets = 5 * 1024 * 1024 * 8 / 3600e9 * 1e9;
    EXPECT_NEAR(static_cast<double>(*c.median_ns), octets + 500, 5);
  }
}

TEST(SharedScaleUp, EveryOperationOverNetworksOfHosts) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* pxn : {"collectives.c.pxn=false", "collectives.c.pxn=true"})
      for (const char* keys :
           {"channels: 4", "collective: all-reduce, algorithm: tree, channels: 2",
            "collective: all-reduce, algorithm: halving-doubling", "collective: all-reduce, algorithm: hierarchical-ring",
            "collective: all-reduce, algorithm: hierarchical-tree", "collective: reduce-scatter, channels: 2",
            "collective: all-gather, channels: 3", "collective: broadcast, root: 5", "collective: all-to-all",
            "forward: 10us, backward: 20us, buckets: 3"}) {
        SCOPED_TRACE(std::string(payload) + " " + pxn + " " + keys);
        const report::CollectiveReport c =
            run_right(racks(4, 2, std::string("size: 192KiB, chunk: 4KiB, repeats: 4, ") + keys), {payload, pxn});
        EXPECT_GT(c.scale_up->bytes, 0u);
        EXPECT_GT(c.fabric_bytes, 0u);
        EXPECT_LE(c.busbw_bps, c.limit_bps) << "no busier than the busiest NIC can be";
      }
}

// Two collectives over the same hosts, over both transports, flows and frames beside them that keep NICs busy for long
// frames, losses: hosts wait for each other's messages while everything else goes on.
std::uint64_t digest(std::size_t workers, const EngineVariation& variation = {}) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  config.variation = variation;
  Scenario s(R"(
name: everything
topology: { preset: rail-optimized, hosts: 6, rails: 2, spines: 2, host-link: { rate: 40Gbps, cable: 3m } }
hosts: { default: { gpus: 4, scale-up: { rate: 800Gbps, latency: 300ns, hosts: 3 }, roce: { ack-timeout: 5, ack-every: 16 } } }
collectives:
  - { name: sum, size: 384KiB, chunk: 16KiB, channels: 4, repeats: 3, reduce-rate: 400Gbps, step-cost: 1ns }
  - { name: swap, collective: all-to-all, transport: uet, size: 192KiB, repeats: 3, gap: 3us }
traffic:
  - { name: messages, from: "h1:1", to: "h4:1", transport: roce, bytes: 1MB }
  - { name: frames, from: "h3:2", to: "h5:2", bytes: 1MiB, payload: 8000B }
faults:
  - { name: lossy, on: spine1:2, loss: 0.1% }
)",
             {}, config);
  s.run_collectives();
  return s.digest();
}

TEST(SharedScaleUp, OneResultOnAnyNumberOfWorkersInAnyOrder) {
  const std::uint64_t one = digest(1);
  for (const std::size_t workers : {1ull, 2ull, 4ull}) {
    EngineVariation v;
    v.always_parallel = workers > 1;
    if (workers > 1) EXPECT_EQ(digest(workers, v), one) << workers << " workers";
    v.shuffle = Seed{workers};
    v.slices = Seed{workers};
    EXPECT_EQ(digest(workers, v), one) << workers << " workers, random placement and slices";
  }
  EngineVariation sequential;
  sequential.window = 1_ps;
  EXPECT_EQ(digest(1, sequential), one);
}

// No device runs ahead of what a host of its network may still do.
TEST(SharedScaleUp, ItsLatencyIsTheLongestWindow) {
  const std::string keys = "size: 64KiB, chunk: 8KiB";
  Scenario s(racks(4, 2, keys, "100ns"));
  EXPECT_EQ(s.engine().window(), 100_ns);
  EXPECT_NE(s.lab().fabric().window().side, nullptr);
  Scenario alone(racks(4, 1, keys, "100ns"));
  EXPECT_GT(alone.engine().window(), 100_ns);
  EXPECT_EQ(alone.lab().fabric().window().side, nullptr);
}

// Eight GPUs in one host, and in two of four: sums of activations after each half of a layer.
TEST(SharedScaleUp, TensorParallelismOverItIsAsFastAsInAHost) {
  const auto times = [](int together) {
    Scenario s(R"(
name: tensor
topology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 1, host-link: { rate: 100Gbps, cable: 3m } }
hosts:
  default: { gpus: 4, scale-up: { rate: 2400Gbps, latency: 500ns, hosts: )" + std::to_string(together) + R"( } }
  eight: { gpus: 8, scale-up: { rate: 2400Gbps, latency: 500ns } }
nodes: { h1: { profile: eight } }
jobs:
  - { name: inside, model: { layers: 12, hidden: 1024, heads: 16, feed-forward: 4096, vocabulary: 1024, sequence: 512 }, parallelism: { tp: 8 }, microbatches: 2, microbatch-size: 2, gpu: a100, ranks: [h1] }
  - { name: across, model: { layers: 12, hidden: 1024, heads: 16, feed-forward: 4096, vocabulary: 1024, sequence: 512 }, parallelism: { tp: 8 }, microbatches: 2, microbatch-size: 2, gpu: a100, ranks: [h2, h3] }
)");
    const auto estimated = estimate::estimate(s.lab().spec());
    EXPECT_TRUE(estimated);
    s.run_to_the_end();
    s.expect_books_balance();
    std::vector<double> ns;
    for (const report::CollectiveReport& c : s.report().collectives) {
      EXPECT_TRUE(c.verified) << c.name << c.stalled << c.wrong;
      ns.push_back(static_cast<double>(*c.median_ns));
      const double said = static_cast<double>(estimated->collectives[ns.size() - 1].time.ps) / 1000;
      EXPECT_NEAR(said, ns.back(), 0.1 * ns.back()) << c.name;
    }
    return ns;
  };
  const std::vector<double> shared = times(2);
  const std::vector<double> apart = times(1);
  EXPECT_EQ(shared[0], apart[0]);
  // Twelve layers, four sums in each of two microbatches, each of which is complete one latency later.
  EXPECT_LE(shared[1], shared[0] + 12 * 4 * 2 * 500);
  EXPECT_GE(shared[1], shared[0]);
  EXPECT_GT(apart[1], 3 * shared[1]);
}

TEST(SharedScaleUp, EstimatesAreNearTheRunOnAnIdleFabric) {
  for (const char* keys : {"size: 16MiB, chunk: 64KiB", "size: 16MiB, chunk: 64KiB, algorithm: hierarchical-ring",
                           "collective: all-to-all, size: 12MiB, chunk: 64KiB",
                           "size: 16MiB, chunk: 64KiB, ranks: [h1, h2, h3]"}) {
    Scenario s(racks(6, 3, keys));
    const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
    ASSERT_TRUE(estimated) << estimated.error();
    s.run_to_the_end();
    const double ran = static_cast<double>(*s.report().collectives.at(0).median_ns);
    EXPECT_NEAR(static_cast<double>(estimated->collectives[0].time.ps) / 1000, ran, 0.1 * ran) << keys;
  }
}

// Two racks of 72 GPUs, as shipped: a rack by itself sends nothing, and across each NIC sends its share.
TEST(SharedScaleUp, TwoRacksOfSeventyTwo) {
  Scenario s = Scenario::ready("nvl72", {"collectives.both.size=9MiB", "collectives.rack.size=9MiB"});
  s.run_to_the_end();
  s.expect_books_balance();
  const std::vector<report::CollectiveReport> c = s.report().collectives;
  ASSERT_EQ(c.size(), 2u);
  for (const report::CollectiveReport& one : c) EXPECT_TRUE(one.verified) << one.name << one.stalled << one.wrong;
  EXPECT_EQ(c[0].fabric_bytes, 0u);
  EXPECT_EQ(c[1].fabric_bytes, 144u * (9u << 20) / 72) << "of a 72nd, which each GPU has, two halves";
}

}  // namespace
}  // namespace railyard::test
