// Switches that trust the VLAN priority, and built-in NICs that send it.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "dataplane/packet/packet.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// SMB Direct: RDMA at priority 4, which alone is lossless. h1 and h2 write to h3.
constexpr const char* kSmb = R"(
name: smb
qos: { default: { trust: pcp, classes: { 4: { lossless: true } } } }
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }
defaults: { link: { rate: 10Gbps, cable: 3m } }
traffic: [ { name: smb, pattern: incast, from: [h1, h2], to: h3, transport: roce, dscp: 32, class: 4, message: 1MB, outstanding: 16, path-mtu: 1024 } ]
run: { duration: 50ms, drain: 10ms }
)";

// Of IP packets that are anywhere now: how many there are of each VLAN and PCP; no tag: {-1, -1}.
using Tags = std::map<std::pair<int, int>, int>;
Tags tags_now(Scenario& s) {
  Tags seen;
  s.lab().fabric().for_each_packet([&](const Packet& p) {
    if (p.kind == FrameKind::kMacControl) return;
    const bool tagged = p.has(Packet::kTagged);
    ++seen[tagged ? std::pair{int{p.vid}, int{p.pcp}} : std::pair{-1, -1}];
  });
  return seen;
}

TEST(FrameTags, RdmaAtALosslessVlanPriority) {
  Scenario s{kSmb};
  s.run_until(5_ms);
  const Tags tags = tags_now(s);
  ASSERT_EQ(tags.size(), 1u);
  EXPECT_EQ(tags.begin()->first, std::pair(2, 4)) << "VLAN 2, PCP 4; ACKs, too";
  // 1024 octets of payload take 1106 on the wire without a tag, 1110 with it; the RETH of a message is nothing.
  const std::uint64_t before = s.at("leaf1:3", 4).tx_packets;
  s.run_until(45_ms);
  EXPECT_NEAR(static_cast<double>(s.at("leaf1:3", 4).tx_packets - before), 40e-3 * 10e9 / (1110 * 8), 20);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("leaf1:3", 4).tx_packets, 50'000u);
  EXPECT_EQ(s.at("leaf1:3", 0).tx_packets, 0u);
  EXPECT_GT(s.at("leaf1:1", 4).xoff_sent, 0u) << "and lossless by pauses";
  EXPECT_GT(s.at("h1:1", 4).paused, Duration{});
  EXPECT_EQ(s.flow("smb/h1->h3").received().payload_octets, s.flow("smb/h2->h3").received().payload_octets)
      << "half each";
}

TEST(FrameTags, WithoutThemAllIsOfTheDefaultClass) {
  Scenario s{kSmb, {"hosts.default.vlan=off"}};
  s.run_until(2_ms);
  const Tags tags = tags_now(s);
  ASSERT_EQ(tags.size(), 1u);
  EXPECT_EQ(tags.begin()->first, std::pair(-1, -1));
  EXPECT_EQ(s.at("leaf1:3", 4).tx_packets, 0u);
  EXPECT_GT(s.at("leaf1:3", 0).tx_packets, 0u);
}

TEST(FrameTags, TheClassGoesWithTheFrameFromSwitchToSwitch) {
  Scenario s{kSmb,
             {"topology={ preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }", "traffic.smb.from=[h1, h2]",
              "run.duration=5ms"}};
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  std::uint64_t others = 0;
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports)
      for (std::size_t k = 0; k < kPriorities; ++k) others += k == 4 ? 0 : p.classes[k].rx_packets;
  EXPECT_EQ(others, 0u) << "at no hop in another class";
}

// VID 0: the frame is in the port's own VLAN, and the switch takes the tag off where it leaves (802.1Q clause 8.8).
TEST(FrameTags, PriorityTags) {
  Scenario s{kSmb, {"hosts.default.vlan=0"}};
  s.run_until(5_ms);
  EXPECT_GT(tags_now(s)[std::pair(0, 4)], 0);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("leaf1:3", 4).tx_packets, 50'000u);
}

TEST(FrameTags, OfTrafficAlone) {
  Scenario s{kSmb, {"traffic.smb.vlan=100", "traffic.smb.pcp=5"}};
  s.run_until(5_ms);
  const Tags tags = tags_now(s);
  ASSERT_EQ(tags.size(), 1u) << "data and ACKs";
  EXPECT_EQ(tags.begin()->first, std::pair(100, 5));
  EXPECT_GT(s.at("leaf1:3", 5).tx_packets, 1000u);
}

// Where switches trust the DSCP, too: the tag is on the wire, and nobody goes by it.
TEST(FrameTags, OfTrafficInAVlanWhereDscpIsTrusted) {
  Scenario s{kSmb, {"qos.default.trust=dscp", "traffic.smb.vlan=7"}};
  s.run_until(5_ms);
  EXPECT_GT(tags_now(s)[std::pair(7, 4)], 0);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("leaf1:3", 4).tx_packets, 50'000u);
}

// The PCP is one that the map puts into the class.
TEST(FrameTags, ByTheMapOfTheNic) {
  Scenario s{kSmb, {"qos.default.pcp={ 4: 0, 3: 4 }"}};
  s.run_until(5_ms);
  EXPECT_GT(tags_now(s)[std::pair(2, 3)], 0);
  EXPECT_GT(s.at("leaf1:3", 4).tx_packets, 1000u);
}

TEST(FrameTags, CnpsInTheirOwnClass) {
  Scenario s{kSmb,
             {"hosts.default.roce.congestion=dcqcn",
              "qos.default.classes.4={ lossless: true, ecn: { kmin: 20KB, kmax: 100KB, pmax: 50% } }",
              "qos.default.classes.6={ strict: true }"}};
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("leaf1:3", 6).rx_packets, 100u) << "CNPs: DSCP 48, class 6, PCP 6";
  EXPECT_EQ(s.at("leaf1:1", 6).tx_packets + s.at("leaf1:2", 6).tx_packets, s.at("leaf1:3", 6).rx_packets);
}

// Real octets, verified one by one: the ICRC does not cover the tag, and receivers see none.
TEST(FrameTags, RealPayloadOverEveryTransport) {
  for (const char* transport : {"roce", "uet", "generator"}) {
    SCOPED_TRACE(transport);
    std::vector<std::string> sets{"run.payload=real", "run.duration=2ms",
                                  std::string("traffic=[{ name: smb, from: h1, to: h3, dscp: 32, class: 4, transport: ") +
                                      transport + " }]"};
    Scenario s{kSmb, sets};
    s.run_until(1_ms);
    for (const auto& [tag, frames] : tags_now(s)) EXPECT_EQ(tag.first, 2) << frames;
    s.run_to_the_end();
    EXPECT_EQ(s.dropped(), 0u);
    EXPECT_GT(s.at("leaf1:3", 4).tx_packets, 100u);
    EXPECT_GT(s.flow("smb/h1->h3").received().payload_octets, 1'000'000u);
    EXPECT_EQ(s.flow("smb/h1->h3").received().corrupted, 0u);
  }
}

TEST(FrameTags, OfCollectives) {
  Scenario s{kSmb,
             {"traffic=[]", "run.duration=",
              "collectives=[{ name: sum, collective: all-reduce, size: 3MB, class: 4, dscp: 32, path-mtu: 1024 }]"}};
  s.run_until(100_us);
  for (const auto& [tag, frames] : tags_now(s)) EXPECT_EQ(tag, std::pair(2, 4)) << frames;
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("leaf1:3", 4).tx_packets, 1000u);
  EXPECT_TRUE(s.report().collectives.at(0).completed);
}

// A rate is on the wire: a frame of 4096 octets of payload is 4182 there with its tag.
TEST(FrameTags, AreInTheRate) {
  Scenario s{kSmb,
             {"traffic=[{ name: t, from: h1, to: h3, dscp: 32, class: 4, rate: 5Gbps }]", "run.duration=20ms"}};
  s.run_to_the_end();
  EXPECT_NEAR(static_cast<double>(s.flow("t/h1->h3").sent().packets), 5e9 * 20e-3 / (4182 * 8), 1.5);
}

}  // namespace
}  // namespace railyard::test
