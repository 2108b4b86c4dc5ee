// Rails as VLANs: what is sent in one rail reaches no port of another, whatever is forged; and the collectives of rail-only
// fabrics go over the hosts' scale-up networks.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace railyard::literals;

// Two groups of two hosts; leaves with two rails each, spines that carry all VLANs tagged. Ports 1 and 2 of a leaf are rail
// 1's, 3 and 4 rail 2's.
const std::string kShared = R"(
name: shared
topology: { preset: rail-optimized, hosts: 4, rails: 2, rails-per-switch: 2, hosts-per-group: 2, spines: 2 }
run: { duration: 20us, drain: 1ms }
)";

std::uint64_t sent_by_leaf(Scenario& s, const std::string& port) {
  return s.port(port).tx_packets();
}

TEST(RailVlans, CarryTheirRailAcrossSpines) {
  Scenario s{kShared + R"(
traffic:
  - { name: r1, from: "h1:1", to: "h3:1" }
  - { name: r2, from: "h2:2", to: "h4:2" }
)"};
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  for (const report::FlowReport& f : s.report().flows) {
    EXPECT_GT(f.delivered_packets, 50u) << f.name;
    EXPECT_EQ(f.delivered_packets, f.packets) << f.name;
  }
  EXPECT_EQ(sent_by_leaf(s, "leaf-r1-r2-g2:3"), 0u) << "rail 2 of h3";
}

// Frames to a NIC of another rail, of the sender's VLAN and with a tag of the other: within a leaf and across the spines.
TEST(RailVlans, LetNoFrameIntoAnotherRail) {
  for (const char* to : {"h2:2", "h4:2"})
    for (const int vlan : {101, 102}) {
      Scenario s{kShared + "traffic: [{ name: x, from: \"h1:1\", to: \"" + to + "\", vlan: " + std::to_string(vlan) + " }]\n"};
      s.run_to_the_end();
      const report::FlowReport f = s.report().flows.at(0);
      EXPECT_GT(f.packets, 50u);
      EXPECT_EQ(f.delivered_packets, 0u) << to << " " << vlan;
      EXPECT_EQ(s.drops(DropReason::kVlanNotMember), f.packets) << to << " " << vlan;
      for (const char* leaf : {"leaf-r1-r2-g1", "leaf-r1-r2-g2"})
        for (int port = 3; port <= 4; ++port)
          EXPECT_EQ(sent_by_leaf(s, std::string(leaf) + ":" + std::to_string(port)), 0u) << leaf << ":" << port;
    }
}

// Without spines, and with a VLAN per rail, all ranks reach all: within a rail by NICs, between rails by scale-up.
TEST(RailOnly, CollectivesCrossRailsByScaleUp) {
  for (const char* keys : {"hosts: 4, rails: 2, spines: 0", "hosts: 4, rails: 2, rails-per-switch: all",
                           "hosts: 4, rails: 2, switches-per-rail: 2, spines: 0"}) {
    Scenario s{std::string("name: x\nhosts: { default: { scale-up: { rate: 900Gbps } } }\n"
                           "topology: { preset: rail-optimized, ") +
               keys +
               " }\n"
               "collectives:\n"
               "  - { name: a2a, collective: all-to-all, size: 64KiB, ranks: \"h*\", pxn: true }\n"
               "  - { name: sum, collective: all-reduce, algorithm: hierarchical-ring, size: 64KiB, ranks: \"h*\" }\n"
               "run: { payload: real }\n"};
    s.run_to_the_end();
    EXPECT_EQ(s.dropped(), 0u) << keys;
    for (const report::CollectiveReport& c : s.report().collectives) {
      EXPECT_TRUE(c.completed) << keys << " " << c.name;
      EXPECT_TRUE(c.verified) << keys << " " << c.name;
      EXPECT_EQ(c.wrong_bytes, 0u) << keys << " " << c.name;
    }
  }
}

// 16 NICs in a host all send and receive at line rate.
TEST(DualRail, AllSixteenNicsOfAHostSend) {
  Scenario s{R"(
name: dual
topology: { preset: rail-optimized, hosts: 2, rails: 8, switches-per-rail: 2, spines: 0 }
traffic: [{ name: p, pattern: permutation, from: "h*", to: "h*" }]
run: { duration: 200us, drain: 1ms }
)"};
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  const report::Report r = s.report();
  ASSERT_EQ(r.flows.size(), 32u);
  for (const report::FlowReport& f : r.flows) EXPECT_NEAR(f.goodput_bps().value_or(0), 100e9 * 4096 / 4176, 2e9) << f.name;
}

}  // namespace
}  // namespace railyard::test
