// The worked designs of topologies/designs: the arithmetic in their comments, from the labs as loaded.
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::spec {
namespace {

constexpr std::int64_t kGbps = 1'000'000'000;

// Totals over a design; rates in Gb/s.
struct Totals {
  std::map<std::string, int> switches;         // by role
  std::map<std::string, std::int64_t> down;    // of each switch with hosts: its links to hosts
  std::map<std::string, std::int64_t> up;      // of the same: its links to switches
  std::map<std::string, int> ports;            // of each switch
  int hosts = 0;
  int nics = 0;
  std::int64_t nic_rate = 0;  // of all NICs
};

Totals totals(const char* file) {
  const Lab lab = load(std::string(RAILYARD_SOURCE_DIR "/topologies/designs/") + file);
  Totals sum;
  std::map<std::string, bool> is_host;
  for (const NodeSpec& node : lab.nodes) {
    is_host[node.name] = node.kind == NodeSpec::Kind::kHost;
    if (is_host[node.name]) {
      ++sum.hosts;
      sum.nics += static_cast<int>(node.nics.size());
    } else {
      ++sum.switches[node.role];
    }
  }
  for (const LinkSpec& link : lab.links) {
    const std::int64_t rate = static_cast<std::int64_t>(link.rate.bps) / kGbps;
    for (const auto& [end, other] : {std::pair{link.a.node, link.b.node}, std::pair{link.b.node, link.a.node}}) {
      if (is_host.at(end)) {
        sum.nic_rate += rate;
        continue;
      }
      ++sum.ports[end];
      (is_host.at(other) ? sum.down : sum.up)[end] += rate;
    }
  }
  for (auto it = sum.up.begin(); it != sum.up.end();) it = sum.down.contains(it->first) ? std::next(it) : sum.up.erase(it);
  return sum;
}

void expect_each(const std::map<std::string, std::int64_t>& rates, std::size_t count, std::int64_t gbps) {
  EXPECT_EQ(rates.size(), count);
  for (const auto& [name, rate] : rates) EXPECT_EQ(rate, gbps) << name;
}

TEST(Designs, ThirtyTwoNodesOfFour400GAreNotOversubscribed) {
  const Totals t = totals("nodes32-4x400g.yaml");
  EXPECT_EQ(t.switches, (std::map<std::string, int>{{"leaf", 4}, {"spine", 4}}));
  EXPECT_EQ(t.hosts, 32);
  EXPECT_EQ(t.nics, 128);
  EXPECT_EQ(t.nic_rate, 51'200);
  expect_each(t.down, 4, 12'800);
  expect_each(t.up, 4, 12'800);
  EXPECT_EQ(t.ports.at("leaf-r1"), 32 + 4 * 8);
  EXPECT_EQ(t.ports.at("spine1"), 32);
}

TEST(Designs, APodOf64GpusHas3200GUpAtEachRailSwitch) {
  const Totals t = totals("pod64.yaml");
  EXPECT_EQ(t.switches.at("leaf"), 4);
  EXPECT_EQ(t.nics, 64 * 2);
  EXPECT_EQ(t.nic_rate, 64 * 2 * 100);
  expect_each(t.down, 4, 3'200);
  expect_each(t.up, 4, 3'200);
}

TEST(Designs, TwoPodsMeetAtFourSuperSpines) {
  const Totals t = totals("multipod128.yaml");
  EXPECT_EQ(t.switches, (std::map<std::string, int>{{"leaf", 2 * 4}, {"spine", 4}}));
  EXPECT_EQ(t.nics, 128 * 2);
  EXPECT_EQ(t.nic_rate, 25'600);
  expect_each(t.down, 8, 3'200);
  expect_each(t.up, 8, 3'200);
  EXPECT_EQ(t.ports.at("spine1"), 2 * 4 * 2);
}

TEST(Designs, ThreeHostsOfEightNicsFillOneRailSwitch) {
  const Totals t = totals("hosts3-one-rail-switch.yaml");
  EXPECT_EQ(t.hosts, 3);
  EXPECT_EQ(t.nics, 24);
  expect_each(t.down, 1, 9'600);
  EXPECT_TRUE(t.up.empty());
  EXPECT_EQ(t.ports.at("leaf-r1-r8"), 24);
}

TEST(Designs, FourHostsOfEightGpusAreOnTwoSwitchesPerRail) {
  const Totals t = totals("hosts4-dual-rail.yaml");
  EXPECT_EQ(t.switches, (std::map<std::string, int>{{"leaf", 8 * 2}}));
  EXPECT_EQ(t.hosts, 4);
  EXPECT_EQ(t.nics, 4 * 8 * 2);
  EXPECT_EQ(t.nic_rate, 12'800);
  expect_each(t.down, 16, 800);
  EXPECT_TRUE(t.up.empty());
}

TEST(Designs, EightPodsMeetAtSuperSpinesInPlanes) {
  const Totals t = totals("pods2048-three-tiers.yaml");
  EXPECT_EQ(t.switches, (std::map<std::string, int>{{"leaf", 8 * 8}, {"spine", 8 * 32}, {"super-spine", 32 * 4}}));
  EXPECT_EQ(t.nics, 2048);
  EXPECT_EQ(t.nic_rate, 819'200);
  expect_each(t.down, 64, 12'800);
  expect_each(t.up, 64, 12'800);
  EXPECT_EQ(t.ports.at("leaf1"), 64);
  EXPECT_EQ(t.ports.at("spine1"), 8 + 4);
  EXPECT_EQ(t.ports.at("super1"), 8);
}

TEST(Designs, AFatTreeOfTwoLevelsHas8192Gpus) {
  const Totals t = totals("fat-tree-8192.yaml");
  EXPECT_EQ(t.switches, (std::map<std::string, int>{{"leaf", 128}, {"spine", 64}}));
  EXPECT_EQ(t.nics, 8192);
  EXPECT_EQ(t.nic_rate, 3'276'800);
  expect_each(t.down, 128, 25'600);
  expect_each(t.up, 128, 25'600);
  for (const auto& [name, ports] : t.ports) EXPECT_EQ(ports, 128) << name;
}

}  // namespace
}  // namespace railyard::spec
