// How collective algorithms compare, and collectives of hosts that are cabled to each other or by rails alone.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

report::CollectiveReport run(const std::string& lab, const std::vector<std::string>& sets = {}) {
  return Scenario(lab, sets).run_collectives().at(0);
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

// Each pair of `hosts` hosts has a cable of 100 Gb/s.
std::string mesh_of(int hosts, const std::string& keys) {
  std::string nodes, links;
  std::map<int, int> ports;
  for (int a = 1; a <= hosts; ++a) {
    nodes += "  h" + std::to_string(a) + ": { kind: host, nics: " + std::to_string(hosts - 1) + " }\n";
    for (int b = a + 1; b <= hosts; ++b) {
      links += links.empty() ? "[h" : ", [h";
      links += std::to_string(a) + ":" + std::to_string(++ports[a]);
      links += ", h" + std::to_string(b) + ":" + std::to_string(++ports[b]) + "]";
    }
  }
  return "name: mesh\nnodes:\n" + nodes + "defaults: { link: { rate: 100Gbps, cable: 1m } }\nlinks: [ " + links +
         " ]\ncollectives: [ { name: c, " + keys + " } ]\n";
}

// The busiest direction of a cable decides, of what the plan puts there: of S octets a third of each rank's from all to
// all (busbw counts 2/3 S), two thirds of direct's (4/3 S), all of a tree's (4/3 S), half of a broadcast's by a double
// tree (S), all of it by a single one.
TEST(CollectiveAlgorithms, TheLimitIsThatOfTheBusiestCable) {
  const report::CollectiveReport ring = run(ring_of(3, "size: 63MB"));
  EXPECT_NEAR(ring.limit_bps, 196e9, 0.5e9) << "one cable to the next rank";
  EXPECT_GT(ring.share_of_limit(), 0.98);
  const std::pair<const char*, double> plans[] = {
      {"size: 63MB, collective: all-to-all", 2},
      {"size: 63MB, algorithm: direct", 2},
      {"size: 63MB, algorithm: tree", 4.0 / 3},
      {"size: 63MB, algorithm: single-tree", 4.0 / 3},
      {"size: 63MB, collective: broadcast, algorithm: tree", 2},
      {"size: 63MB, collective: broadcast, algorithm: single-tree", 1}};
  for (const auto& [keys, cables] : plans)
    for (const char* transport : {"roce", "uet"}) {
      SCOPED_TRACE(std::string(keys) + " " + transport);
      const report::CollectiveReport c = run(ring_of(3, std::string(keys) + ", transport: " + transport));
      EXPECT_NEAR(c.limit_bps, cables * 196e9, (*transport == 'r' ? 0.005 : 0.02) * cables * 196e9);
      EXPECT_LT(c.busbw_bps, 1.0005 * c.limit_bps);
      EXPECT_LE(c.share_of_limit(), 1.0);
    }
}

TEST(CollectiveAlgorithms, NoShareOfTheLimitIsAboveOneOnMeshes) {
  for (const int n : {4, 5})
    for (const char* keys :
         {"algorithm: tree", "algorithm: single-tree", "algorithm: direct", "algorithm: ring",
          "collective: broadcast, algorithm: tree", "collective: broadcast, algorithm: single-tree", "collective: all-to-all"}) {
      SCOPED_TRACE(std::to_string(n) + " " + keys);
      const report::CollectiveReport c = run(mesh_of(n, std::string("size: 8MB, ") + keys));
      EXPECT_LT(c.busbw_bps, 1.0005 * c.limit_bps);
    }
}

// Two hosts with two cables, as fast as one with one channel and as both with two: each rank has the whole sum in 2 x
// 1/2 S.
TEST(CollectiveAlgorithms, ChannelsSpreadOverTheCablesToTheNeighbour) {
  for (const char* transport : {"roce", "uet"}) {
    const auto with = [&](int channels) {
      SCOPED_TRACE(std::string(transport) + " " + std::to_string(channels));
      const report::CollectiveReport c =
          run("name: two\nnodes: { h1: { kind: host, nics: 2 }, h2: { kind: host, nics: 2 } }\n"
              "defaults: { link: { rate: 100Gbps, cable: 3m } }\nlinks: [ [h1:1, h2:1], [h1:2, h2:2] ]\n"
              "collectives: [ { name: c, size: 64MB, transport: " +
              std::string(transport) + ", channels: " + std::to_string(channels) + " } ]\n");
      EXPECT_GT(c.share_of_limit(), transport[0] == 'r' ? 0.95 : 0.85) << "UET: its windows follow its ACKs";
      EXPECT_LE(c.share_of_limit(), 1);
      return c.limit_bps;
    };
    const double one = with(1);
    EXPECT_NEAR(one, 98e9, 0.02 * 98e9);
    EXPECT_NEAR(with(2), 2 * one, 0.001 * one);
    EXPECT_NEAR(with(3), 1.5 * one, 0.001 * one) << "two of three parts by one cable";
    EXPECT_NEAR(with(4), 2 * one, 0.001 * one);
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
