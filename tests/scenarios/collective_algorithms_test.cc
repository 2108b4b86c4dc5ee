// How collective algorithms compare, and collectives of hosts that are cabled to each other or by rails alone.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

report::CollectiveReport run(const std::string& lab, const std::vector<std::string>& sets = {}) {
  Scenario s(lab, sets);
  s.run_to_the_end();
  s.expect_books_balance();
  const report::CollectiveReport c = s.report().collectives.at(0);
  EXPECT_TRUE(c.completed) << c.stalled;
  EXPECT_TRUE(c.verified) << c.wrong;
  return c;
}

// So that the figures are those of the algorithm and PFC alone.
const std::string kUncontrolled = "hosts.default.roce.congestion=none";

// `hosts` hosts of one 400G NIC at one leaf.
report::CollectiveReport at_one_leaf(int hosts, const std::string& keys,
                                     const std::vector<std::string>& sets = {kUncontrolled}) {
  return run("name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: " +
             std::to_string(hosts) +
                 " }\ndefaults: { link: { rate: 400Gbps, cable: 3m } }\ncollectives:\n  - { name: c, " + keys + " }\n",
             sets);
}

// A NIC of an inner node carries 2 S: busbw is (n - 1) / n of the link at most, where the single tree carries 3 S.
TEST(CollectiveAlgorithms, ADoubleTreeReachesTwiceTheRateOfASingleOne) {
  for (const int n : {8, 16}) {
    SCOPED_TRACE(n);
    const report::CollectiveReport twice = at_one_leaf(n, "algorithm: tree, size: 64MB");
    EXPECT_GE(twice.busbw_bps, 300e9);
    EXPECT_LE(twice.busbw_bps, 392e9 * (n - 1) / n);
    EXPECT_LT(at_one_leaf(n, "algorithm: single-tree, size: 64MB").busbw_bps, 0.7 * twice.busbw_bps);
  }
}

// An inner node takes from two children at once: some packets are marked, and DCQCN, which NICs ship with, costs a part.
TEST(CollectiveAlgorithms, ADoubleTreeWithTheCongestionControlThatNicsShipWith) {
  for (const int n : {8, 16}) EXPECT_GE(at_one_leaf(n, "algorithm: tree, size: 64MB", {}).busbw_bps, 300e9) << n;
}

// With any number of ranks: time is at least 2 S over the link's rate, and not much more.
TEST(CollectiveAlgorithms, ADoubleTreeOfAnyNumberOfRanks) {
  for (const int n : {2, 3, 5, 6, 7, 12}) {
    const report::CollectiveReport c = at_one_leaf(n, "algorithm: tree, size: 32MB");
    EXPECT_GT(c.algbw_bps, 392e9 / 2 * 0.82) << n;
  }
}

// NCCL 2.4's double binary trees ("Massively Scale Your Deep Learning Training with NCCL 2.4", 2019): latency by the
// logarithm of the ranks, the ring's by their number; the bandwidth close to the ring's.
TEST(CollectiveAlgorithms, TreesAreAheadAtSmallSizesAndCloseAtLargeOnes) {
  for (const int n : {8, 16}) {
    std::map<std::string, std::map<std::string, double>> time;
    for (const std::string a : {"ring", "tree"})
      for (const std::string size : {"1KiB", "16KiB", "128KiB", "32MiB"})
        time[a][size] = static_cast<double>(*at_one_leaf(n, "algorithm: " + a + ", size: " + size).median_ns);
    for (const std::string size : {"1KiB", "16KiB"})
      EXPECT_LT(time["tree"][size], 0.6 * time["ring"][size]) << n << " " << size;
    EXPECT_LT(time["tree"]["32MiB"], 1.35 * time["ring"]["32MiB"]) << n;
    // The more ranks, the longer the tree stays ahead.
    EXPECT_LT(time["tree"]["1KiB"] / time["ring"]["1KiB"], n == 8 ? 0.6 : 0.4) << n;
  }
}

// Both move 2 (n - 1) / n S per NIC; direct in two steps.
TEST(CollectiveAlgorithms, DirectIsAsFastAsARingAndTakesTwoSteps) {
  const report::CollectiveReport c = at_one_leaf(8, "algorithm: direct, size: 100MB");
  EXPECT_NEAR(static_cast<double>(*c.median_ns), 3.57e6, 0.02 * 3.57e6);
  EXPECT_NEAR(c.busbw_bps, 392e9, 0.02 * 392e9);
  const auto time = [](const std::string& keys) { return static_cast<double>(*at_one_leaf(8, keys).median_ns); };
  const double ring = time("algorithm: ring, size: 1KiB");
  EXPECT_NEAR(time("algorithm: direct, size: 1KiB") / ring, 2.0 / 14, 0.06);
  for (const char* operation : {"reduce-scatter", "all-gather"}) {
    const std::string of = std::string("collective: ") + operation;
    EXPECT_NEAR(time(of + ", algorithm: direct, size: 1KiB") / time(of + ", size: 1KiB"), 1.0 / 7, 0.06) << operation;
    EXPECT_NEAR(time(of + ", algorithm: direct, size: 32MiB") / time(of + ", size: 32MiB"), 1, 0.03) << operation;
  }
}

// ---- Hosts cabled to each other ------------------------------------------------------------------------------------

// `n` hosts of two 200G ports in a ring: port 1 of each to port 2 of the next one.
std::string ring_of(int n, const std::string& keys) {
  std::string nodes, links;
  for (int i = 1; i <= n; ++i) {
    nodes += "  h" + std::to_string(i) + ": { kind: host, nics: 2 }\n";
    links += (i > 1 ? ", [h" : "[h") + std::to_string(i) + ":1, h" + std::to_string(i % n + 1) + ":2]";
  }
  return "name: ring\nnodes:\n" + nodes + "defaults: { link: { rate: 200Gbps, cable: 1m } }\nlinks: [ " + links +
         " ]\ncollectives: [ { name: c, " + keys + " } ]\n";
}

// 2 (n - 1) / n x 64 MB over 196 Gb/s: full packets of 4096 in 4178.
TEST(CollectiveAlgorithms, RingsOverCablesAreAsFastAsTheCables) {
  for (const int n : {3, 4})
    for (const char* transport : {"roce", "uet"})
      for (const char* ranks : {"\"*\"", "[h1, h2, h3]", "[\"h1:1\", \"h2:1\", \"h3:1\"]", "[\"h1:2\", \"h2:1\", \"h3:2\"]"}) {
        if (n == 4 && *ranks == '[') continue;
        SCOPED_TRACE(std::to_string(n) + " " + transport + " " + ranks);
        const report::CollectiveReport c =
            run(ring_of(n, std::string("size: 64MB, transport: ") + transport + ", ranks: " + ranks));
        EXPECT_EQ(c.ranks.size(), static_cast<std::size_t>(n));
        EXPECT_NEAR(c.busbw_bps, 196e9, (*transport == 'r' ? 0.01 : 0.05) * 196e9);
      }
}

// Three hosts are neighbours of each other: any algorithm; with real octets, and additions that take time.
TEST(CollectiveAlgorithms, EveryOperationOverThreeCables) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* transport : {"roce", "uet"})
      for (const char* keys : {"algorithm: tree", "algorithm: direct", "collective: all-to-all", "channels: 2",
                               "collective: broadcast, root: 1", "collective: reduce-scatter, repeats: 5",
                               "collective: all-gather, gap: 3us", "reduce-rate: 100Gbps, repeats: 4"}) {
        SCOPED_TRACE(std::string(payload) + " " + transport + " " + keys);
        run(ring_of(3, std::string("size: 96KiB, chunk: 8KiB, transport: ") + transport + ", " + keys), {payload});
      }
}

// A rank with two cables can send by both: the limit is theirs together, 2 x 196 Gb/s, and no share of it is above 100 %.
TEST(CollectiveAlgorithms, TheLimitIsThatOfAllCablesThatARankSendsBy) {
  const report::CollectiveReport ring = run(ring_of(3, "size: 63MB"));
  EXPECT_NEAR(ring.limit_bps, 196e9, 0.5e9) << "one cable to the next rank";
  EXPECT_GT(ring.share_of_limit(), 0.98);
  for (const char* keys : {"size: 63MB, collective: all-to-all", "size: 63MB, algorithm: tree", "size: 63MB, algorithm: direct"})
    for (const char* transport : {"roce", "uet"}) {
      SCOPED_TRACE(std::string(keys) + " " + transport);
      const report::CollectiveReport c = run(ring_of(3, std::string(keys) + ", transport: " + transport));
      EXPECT_NEAR(c.limit_bps, 392e9, *transport == 'r' ? 1e9 : 8e9);
      EXPECT_LE(c.share_of_limit(), 1.0);
    }
}

// ---- Rails without spines ------------------------------------------------------------------------------------------

std::string rails_alone(int hosts, const std::string& keys) {
  return "name: rails\ntopology: { preset: rail-optimized, hosts: " + std::to_string(hosts) +
         ", rails: 4, spines: 0 }\nhosts: { default: { scale-up: { rate: 3600Gbps } } }\ncollectives:\n  - { name: c, " +
         keys + " }\n";
}

TEST(CollectiveAlgorithms, EveryOperationOverRailsAlone) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const int hosts : {2, 3, 4})
      for (const char* keys :
           {"algorithm: ring", "algorithm: ring, channels: 4", "algorithm: tree", "algorithm: hierarchical-ring",
            "algorithm: hierarchical-tree", "algorithm: single-tree, pxn: true", "algorithm: direct, pxn: true",
            "collective: reduce-scatter, channels: 2", "collective: all-gather", "collective: broadcast",
            "collective: broadcast, algorithm: ring, pxn: true", "collective: all-to-all, pxn: true",
            "collective: all-gather, algorithm: direct, pxn: true", "pxn: true, transport: uet"}) {
        SCOPED_TRACE(std::to_string(hosts) + " " + keys);
        const report::CollectiveReport c =
            run(rails_alone(hosts, std::string("size: 192KiB, chunk: 4KiB, ") + keys), {payload});
        EXPECT_GT(c.fabric_bytes, 0u);
      }
}

// Each rail has its share: four NICs of a host move four times what one does.
TEST(CollectiveAlgorithms, TreesUseAllRailsOfAHost) {
  const auto busbw = [](const std::string& keys) { return run(rails_alone(4, "size: 32MiB, " + keys), {kUncontrolled}).busbw_bps; };
  const double tree = busbw("algorithm: tree");
  EXPECT_GT(tree, 3 * 100e9);
  EXPECT_NEAR(busbw("algorithm: hierarchical-tree"), tree, 0.01 * tree);
  EXPECT_GT(busbw("algorithm: hierarchical-ring"), 3 * 100e9);
}

}  // namespace
}  // namespace railyard::test
