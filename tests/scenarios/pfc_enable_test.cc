// PFC is enabled per port and priority (IEEE 802.1Q clause 36): who obeys whom, and what becomes of the rest.
#include <gtest/gtest.h>

#include "tests/scenarios/fault_scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// h1 sends class 0 (lossy) at 30 Gb/s and class 3 (lossless) at 10 Gb/s to h2, which pauses a class for 8 ms.
//
//   h1 --- leaf1 --- h2 (storm)
constexpr const char* kTwoClasses = R"(
name: two-classes
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }
defaults: { link: { rate: 100Gbps, cable: 3m } }
traffic:
  - { name: lossy, from: h1, to: h2, dscp: 0, rate: 30Gbps }
  - { name: lossless, from: h1, to: h2, dscp: 26, rate: 10Gbps }
faults: [ { name: storm, on: "h2:1", at: 1ms, for: 8ms, pfc-storm: 0 } ]
run: { duration: 10ms, drain: 1ms }
)";

// XOFF is said at the beginning and repeated when half of 65535 quanta of 5.12 ns have passed; then XON.
constexpr std::uint64_t kXoffs = 48;  // 8 ms / 167.77 us = 47.7
constexpr std::uint64_t kRequests = kXoffs + 1;

TEST(PfcEnable, APauseForAPriorityThatIsNotEnabledIsCountedAndIgnored) {
  Scenario s{kTwoClasses};
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_EQ(s.at("h2:1", 0).xoff_sent, kXoffs) << "the storm is there";
  EXPECT_EQ(s.at("leaf1:2", 0).pfc_not_enabled, kRequests);
  EXPECT_EQ(s.at("leaf1:2", 0).xoff_received, 0u);
  EXPECT_EQ(s.at("leaf1:2", 0).paused, Duration{});
  EXPECT_EQ(s.at("leaf1:2", 3).pfc_not_enabled, 0u);
  // 4096 octets of payload in 4178 on the wire, at 30 Gb/s for 10 ms.
  EXPECT_NEAR(static_cast<double>(s.at("h2:1", 0).rx_packets), 30e9 * 10e-3 / (4178 * 8), 2);
}

TEST(PfcEnable, ClassesThatAreLosslessObey) {
  Scenario s{kTwoClasses, {"faults.0.pfc-storm=3"}};
  s.run_to_the_end();
  EXPECT_NEAR(seconds(s.at("leaf1:2", 3).paused), 8e-3, 1e-6);
  EXPECT_EQ(s.at("leaf1:2", 3).xoff_received, kXoffs);
  EXPECT_EQ(s.at("leaf1:2", 3).pfc_not_enabled, 0u);
  EXPECT_GT(s.at("leaf1:1", 3).xoff_sent, 0u) << "and pause those behind them";
  EXPECT_EQ(s.dropped(), 0u);
}

// A peer that pauses lossy classes, and a port that listens: at the port, at the class; what comes meanwhile is lost.
TEST(PfcEnable, APortMayObeyPausesOfLossyClasses) {
  for (const char* set : {"nodes.leaf1={ ports: { 2: { pfc: on } } }", "nodes.leaf1={ ports: { 2: { pfc: rx } } }",
                          "nodes.leaf1={ ports: { 2: { classes: { 0: { pfc: rx } } } } }",
                          "qos.default={ classes: { 0: { pfc: on }, 3: { lossless: true } } }"}) {
    SCOPED_TRACE(set);
    Scenario s{kTwoClasses, {set}};
    s.run_to_the_end();
    EXPECT_NEAR(seconds(s.at("leaf1:2", 0).paused), 8e-3, 1e-6);
    EXPECT_EQ(s.at("leaf1:2", 0).xoff_received, kXoffs);
    EXPECT_EQ(s.at("leaf1:2", 0).pfc_not_enabled, 0u);
    EXPECT_GT(s.drops(DropReason::kIngressFull) + s.drops(DropReason::kEgressFull), 0u);
    EXPECT_EQ(s.at("leaf1:1", 0).xoff_sent, 0u) << "a lossy class asks nobody to stop";
  }
}

// The class is lossless at the hosts and lossy in the switch: it is the receiver of the pause that counts.
TEST(PfcEnable, AClassThatIsLosslessAtThePeerOnly) {
  Scenario s{R"(
name: lossy-at-dut
qos:
  default: { classes: { 3: { lossless: true } } }
  lossy: { classes: { 3: { lossless: false, queue-limit: 100KB } } }
switches: { dut: { qos: lossy } }
nodes: { dut: { kind: switch, profile: dut }, h1: { kind: host }, h2: { kind: host } }
defaults: { link: { rate: 100Gbps, cable: 3m } }
links: [ [h1:1, dut:1], [h2:1, dut:2] ]
traffic: [ { name: t, from: h1, to: h2, dscp: 26, rate: 30Gbps } ]
faults: [ { name: storm, on: "h2:1", at: 1ms, for: 8ms, pfc-storm: 3 } ]
run: { duration: 10ms, drain: 1ms }
)"};
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_EQ(s.at("dut:2", 3).paused, Duration{});
  EXPECT_EQ(s.at("dut:2", 3).pfc_not_enabled, kRequests);
}

// A NIC without PFC at a switch that keeps the class lossless: as one that does not obey (ignore-pause.yaml).
TEST(PfcEnable, ANicWithoutPfcOverrunsTheHeadroom) {
  Scenario fault = Scenario::ready("ignore-pause", {"faults.0.on=[h1, h3]"});
  fault.run_to_the_end();
  Scenario s = Scenario::ready("ignore-pause", {"faults=", "hosts.default.pfc=off"});
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kHeadroomFull), 0u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kHeadroomFull));
  EXPECT_EQ(s.dropped(), fault.dropped());
  EXPECT_EQ(s.at("h1:1", 3).xoff_received, 0u);
  EXPECT_GT(s.at("h1:1", 3).pfc_not_enabled, 0u);
  EXPECT_EQ(s.at("h1:1", 3).paused, Duration{});
  Scenario obeys = Scenario::ready("ignore-pause", {"faults="});
  obeys.run_to_the_end();
  EXPECT_EQ(obeys.dropped(), 0u);
}

// One port of two: h3 obeys, h1 does not, and frames of h1 alone are lost.
TEST(PfcEnable, OfOneNicAlone) {
  Scenario s = Scenario::ready("ignore-pause", {"faults=", "nodes.h1={ ports: { 1: { pfc: off } } }"});
  s.run_to_the_end();
  EXPECT_GT(s.at("leaf1:1", 3).drops[static_cast<std::size_t>(DropReason::kHeadroomFull)], 0u);
  EXPECT_EQ(s.dropped(), s.at("leaf1:1", 3).drops[static_cast<std::size_t>(DropReason::kHeadroomFull)]);
  EXPECT_GT(s.at("h3:1", 3).paused, Duration{});
}

// A switch that obeys only says nothing when its headroom fills.
TEST(PfcEnable, APortThatDoesNotSendPauses) {
  Scenario s = Scenario::ready("ignore-pause", {"faults=", "qos.default.classes.3.pfc=rx"});
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:1", 3).xoff_sent + s.at("leaf1:3", 3).xoff_sent, 0u);
  EXPECT_EQ(s.at("h1:1", 3).paused, Duration{});
  EXPECT_GT(s.drops(DropReason::kHeadroomFull), 0u);
}

// A slow host whose NIC sends no pauses loses what its buffer does not hold.
TEST(PfcEnable, ANicThatDoesNotSendPauses) {
  Scenario s = fault_scenario("receive", {"faults=[{ name: slow, on: h2, receive: 10Gbps }]",
                                          "nodes.h2={ ports: { 1: { classes: { 3: { pfc: rx } } } } }"});
  s.run_to_the_end();
  EXPECT_EQ(s.at("h2:1", 3).xoff_sent, 0u);
  EXPECT_EQ(s.at("leaf1:2", 3).paused, Duration{});
  EXPECT_GT(s.drops(DropReason::kNicReceiveFull), 0u);
}

TEST(PfcEnable, DisabledWhileAPauseStandsItEndsThen) {
  Scenario s{kTwoClasses, {"faults.0.pfc-storm=3"}};
  s.set_at(3_ms, {"nodes.leaf1={ ports: { 2: { pfc: off } } }"});
  s.run_until(10_ms);
  // From 1 ms, with 23 ns on the way and a response of 394 quanta, to 3 ms.
  EXPECT_NEAR(seconds(s.at("leaf1:2", 3).paused), 2e-3 - 2.04e-6, 0.05e-6);
  EXPECT_NEAR(static_cast<double>(s.at("leaf1:2", 3).pfc_not_enabled), 6e-3 / 167.77e-6 + 1, 2);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
}

// The watchdog looks after every queue that obeys pauses.
TEST(PfcEnable, TheWatchdogOfALossyClassThatObeys) {
  const std::string watchdog = "switches.default={ pfc-watchdog: { detect: 1ms, restore: 1ms, poll: 500us } }";
  Scenario s{kTwoClasses, {watchdog, "nodes.leaf1={ ports: { 2: { pfc: rx } } }"}};
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 0).storms_detected, 1u);
  EXPECT_GT(s.drops(DropReason::kPfcWatchdog), 0u);
  Scenario ignores{kTwoClasses, {watchdog}};
  ignores.run_to_the_end();
  EXPECT_EQ(ignores.at("leaf1:2", 0).storms_detected, 0u);
}

// ---- Thresholds by rate and by port --------------------------------------------------------------------------------

// Two senders at 100 Gb/s, one at 400 Gb/s, whose ports have other limits.
//
//   h1, h2 (100G) --- leaf1 --- h4 (100G)
//   h3 (400G) --------'
constexpr const char* kRates = R"(
name: rates
qos: { default: { classes: { 3: { lossless: true, xoff: 60KB, by-rate: { 400Gbps: { xoff: 240KB, xon-offset: 40KB } } } } } }
nodes:
  leaf1: { kind: switch, ports: { 2: { classes: { 3: { xoff: 120KB, headroom: 200KB } } } } }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
  h4: { kind: host }
links: [ [h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3, { rate: 400Gbps }], [h4:1, leaf1:4] ]
traffic: [ { name: t, pattern: incast, from: [h1, h2, h3], to: h4 } ]
run: { duration: 1ms }
)";

TEST(PfcEnable, ThresholdsByRateAndByPort) {
  Scenario s{kRates};
  const auto& ports = s.sw("leaf1").config().ports;
  EXPECT_EQ(ports[0].classes[3].buffer.xoff, 60_KB);
  EXPECT_EQ(ports[1].classes[3].buffer.xoff, 120_KB);
  EXPECT_EQ(ports[1].classes[3].buffer.headroom, 200_KB);
  EXPECT_EQ(ports[2].classes[3].buffer.xoff, 240_KB);
  EXPECT_EQ(ports[2].classes[3].buffer.xon_offset, 40_KB);
  EXPECT_EQ(ports[3].classes[3].buffer.xoff, 60_KB);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  // Each group holds what its limit is and what came after XOFF: at most its headroom more.
  const auto most = [&](const char* port) { return s.at(port, 3).max_ingress_cells * 256; };
  EXPECT_GT(most("leaf1:1"), 60'000u);
  EXPECT_LT(most("leaf1:1"), 120'000u);
  EXPECT_GT(most("leaf1:2"), 120'000u);
  EXPECT_LT(most("leaf1:2"), 240'000u);
  EXPECT_GT(most("leaf1:3"), 240'000u);
}

TEST(PfcEnable, ThresholdsOfOnePortLive) {
  Scenario s{kRates};
  s.set_at(500_us, {"nodes.leaf1.ports.2.classes.3.xoff=40KB"});
  s.run_until(501_us);
  EXPECT_EQ(s.sw("leaf1").config().ports[1].classes[3].buffer.xoff, 40_KB);
  EXPECT_EQ(s.sw("leaf1").config().ports[0].classes[3].buffer.xoff, 60_KB);
  s.set_at(600_us, {"qos.default.classes.3.by-rate.400Gbps.xoff=100KB"});
  s.run_to_the_end();
  EXPECT_EQ(s.sw("leaf1").config().ports[2].classes[3].buffer.xoff, 100_KB);
  EXPECT_EQ(s.dropped(), 0u);
}

}  // namespace
}  // namespace railyard::test
