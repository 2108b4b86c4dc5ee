// RoCEv2: acknowledgements in a class of their own, and path MTUs that IBTA does not have.
#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr const char* kAckPair = R"(
name: pair
qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 }, 5: { strict: true } } } }
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }
traffic: [ { name: t, from: h1, to: h2, transport: roce, message: 1MB, bytes: 4MB } ]
)";

TEST(AckClass, OfTheData) {
  Scenario s{kAckPair};
  s.run_to_the_end();
  EXPECT_GT(s.at("leaf1:2", 3).rx_packets, 0u);
  EXPECT_EQ(s.at("leaf1:2", 5).rx_packets, 0u);
}

TEST(AckClass, OfItsOwn) {
  for (const char* ack : {"{ dscp: 46 }", "{ dscp: 46, class: 5 }"}) {
    Scenario s{kAckPair, {std::string("hosts.default.roce.ack=") + ack}};
    s.run_to_the_end();
    EXPECT_EQ(s.at("leaf1:2", 3).rx_packets, 0u) << "nothing comes back in the class of the data";
    EXPECT_GT(s.at("leaf1:2", 5).rx_packets, 0u);
    EXPECT_EQ(s.at("h1:1", 5).rx_packets, s.at("leaf1:2", 5).rx_packets);
    EXPECT_EQ(s.at("leaf1:1", 5).rx_packets, 0u);
    EXPECT_EQ(s.flow("t/h1->h2").received().payload_octets, 4'000'000u);
  }
}

// Their class at the NIC is one thing, what switches make of their DSCP another.
TEST(AckClass, OfANicThatPutsThemElsewhere) {
  Scenario s{kAckPair, {"hosts.default.roce.ack={ dscp: 46, class: 3 }"}};
  s.run_to_the_end();
  EXPECT_GT(s.at("h2:1", 3).tx_packets, 0u);
  EXPECT_EQ(s.at("h2:1", 5).tx_packets, 0u);
  EXPECT_GT(s.at("leaf1:2", 5).rx_packets, 0u);
}

// The data of a paused class wait; ACKs in another do not.
TEST(AckClass, IsNotPausedWithTheData) {
  Scenario s{kAckPair,
             {"hosts.default.roce.ack={ dscp: 46 }", "traffic=[{ name: t, from: h1, to: h2, transport: roce, message: 1MB "
              "}, { name: back, from: h2, to: h1, transport: roce, message: 1MB }]",
              "faults=[{ on: leaf1:2, at: 100us, pfc-storm: 3 }]", "run.duration=200us"}};
  s.run_until(110_us);
  const std::uint64_t data = s.at("h2:1", 3).tx_packets;
  const std::uint64_t acks = s.at("h2:1", 5).tx_packets;
  s.run_until(190_us);
  EXPECT_EQ(s.at("h2:1", 3).tx_packets, data);
  EXPECT_GT(s.at("h2:1", 5).tx_packets, acks);
}

// 1 MB in packets of 1000 octets; every octet is verified.
TEST(PathMtu, AsPublishedSimulationsHaveIt) {
  for (const char* recovery : {"go-back-n", "selective-repeat"})
    for (const char* operation : {"write", "send", "read"}) {
      SCOPED_TRACE(std::string(recovery) + " " + operation);
      Scenario s{kAckPair,
                 {"traffic.t.path-mtu=1000", std::string("traffic.t.operation=") + operation, "run.payload=real",
                  std::string("hosts.default.roce.loss-recovery=") + recovery}};
      s.run_to_the_end();
      EXPECT_EQ(s.flow("t/h1->h2").received().payload_octets, 4'000'000u);
      EXPECT_EQ(s.flow("t/h1->h2").received().packets, 4000u);
      EXPECT_EQ(s.flow("t/h1->h2").received().corrupted, 0u);
      EXPECT_EQ(s.dropped(), 0u);
    }
}

}  // namespace
}  // namespace railyard::test
