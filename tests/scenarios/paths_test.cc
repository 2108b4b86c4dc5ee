// Which way packets go: ECMP spreads flows and keeps each in order, spraying spreads packets.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// 64 flows of 100 packets from leaf1 to leaf2 over 8 spines, each from a UDP source port of its own.
std::string over_eight_spines(const std::string& path) {
  return R"(
name: paths
qos: { default: { classes: { 3: { lossless: true, alpha: 1, path: )" +
         path + R"( } } } }
topology: { preset: leaf-spine, leaves: 2, spines: 8, hosts-per-leaf: 8, host-link: { rate: 100Gbps }, fabric-link: { rate: 100Gbps } }
traffic: [ { name: t, pattern: pairs, from: [h1, h2, h3, h4, h5, h6, h7, h8], to: [h9, h10, h11, h12, h13, h14, h15, h16],
             flows: 8, payload: 1024B, bytes: 102400B, rate: 5Gbps } ]
)";
}

std::vector<std::uint64_t> uplink_packets(Scenario& s) {
  std::vector<std::uint64_t> n;
  for (int p = 9; p <= 16; ++p) n.push_back(s.port("leaf1:" + std::to_string(p)).tx_packets());
  return n;
}

TEST(Ecmp, SpreadsFlowsOverAllPathsAndKeepsEachFlowOnOne) {
  Scenario s(over_eight_spines("ecmp"));
  s.run_to_the_end();
  const auto n = uplink_packets(s);
  EXPECT_EQ(std::count(n.begin(), n.end(), 0u), 0) << "64 flows leave no path of 8 unused";
  for (const std::uint64_t packets : n) EXPECT_EQ(packets % 100, 0u) << "whole flows only";
  EXPECT_LE(*std::max_element(n.begin(), n.end()), 2000u);  // 800 on average; 64 balls in 8 bins
  for (const build::Flow& f : s.lab().flows()) EXPECT_EQ(f.received().reordered, 0u);
}

TEST(Ecmp, TheChoiceIsTheSeeds) {
  Scenario a(over_eight_spines("ecmp"));
  Scenario same(over_eight_spines("ecmp"));
  Scenario other(over_eight_spines("ecmp"), {"run.seed=2"});
  a.run_to_the_end();
  same.run_to_the_end();
  other.run_to_the_end();
  EXPECT_EQ(uplink_packets(a), uplink_packets(same));
  EXPECT_NE(uplink_packets(a), uplink_packets(other));
}

TEST(Ecmp, WithoutTheUdpPortsAllFlowsOfAPairGoTogether) {
  Scenario s(over_eight_spines("ecmp"), {"switches.default.ecmp.fields=[addresses]"});
  s.run_to_the_end();
  for (const std::uint64_t packets : uplink_packets(s)) EXPECT_EQ(packets % 800, 0u);
}

TEST(Spray, SpreadsThePacketsOfEveryFlowEvenly) {
  Scenario s(over_eight_spines("spray"));
  s.run_to_the_end();
  const auto n = uplink_packets(s);
  const auto [least, most] = std::minmax_element(n.begin(), n.end());
  EXPECT_LE(*most - *least, 1u);  // round robin: 800 each
  EXPECT_EQ(s.dropped(), 0u);
}

}  // namespace
}  // namespace railyard::test
