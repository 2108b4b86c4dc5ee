// What UET sends again: what was lost or trimmed, and nothing besides. What fails: nothing that goes on.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"
#include "tests/scenarios/uet_full_fabric.h"

namespace railyard::test {
namespace {

struct Repeats {
  std::size_t flows = 0, complete = 0;
  double last_ns = 0;  // when the last flow was complete
  std::uint64_t packets = 0, again = 0, duplicates = 0, trimmed = 0, timeouts = 0, failed = 0, dropped = 0;
};

Repeats repeats_of(const std::string& yaml, const std::vector<std::string>& sets = {}) {
  Scenario s(yaml, sets);
  s.run_to_the_end();
  const report::Report r = s.report();
  Repeats o;
  for (const report::FlowReport& f : r.flows) {
    ++o.flows;
    if (f.fct_ns && f.uet->verified == f.uet->messages) ++o.complete;
    o.last_ns = std::max(o.last_ns, static_cast<double>(f.fct_ns.value_or(0)));
    o.packets += f.packets;
  }
  for (const report::UetNicReport& n : r.uet_nics) {
    o.again += n.retransmitted_packets;
    o.duplicates += n.duplicates();
    o.trimmed += n.trimmed();
    o.timeouts += n.retransmission_timeouts;
    o.failed += n.pdcs_failed;
  }
  o.dropped = s.dropped();
  return o;
}

// Of the receiver's link, for flows of 2 MB: 126 octets around each 4096.
double needed_ns(double flows) { return flows * 2e6 * 8 * (4096 + 126) / 4096 / 100; }

// ---- Slow data
// -------------------------------------------------------------------------------------------------------

// A packet in 16 ms, and an RTO of 5 ms; or sixteen packets in that time, one ACK for all of them.
TEST(UetRepeats, PacketsThatKeepToASlowRateDoNotTimeOut) {
  for (const char* what : {"rate: 2Mbps", "rate: 8Mbps, path-mtu: 1024", "rate: 2Mbps, operation: read",
                           "rate: 8Mbps, operation: read, path-mtu: 1024", "rate: 2Mbps, service: rod"}) {
    const Repeats o =
        repeats_of(std::string("name: slow\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, "
                               "hosts-per-leaf: 2 }\ntraffic: [ { name: t, from: h1, to: h2, transport: uet, "
                               "message: 64KB, bytes: 256KB, ") +
                   what + " } ]\n");
    EXPECT_EQ(o.complete, 1u) << what;
    EXPECT_EQ(o.again + o.timeouts, 0u) << what;
  }
}

// Data of each come in parts of the link; a request is of the same few octets whatever it asks for.
TEST(UetRepeats, ReadersThatShareALinkDoNotTimeOut) {
  for (const int readers : {32, 100}) {
    const Repeats o =
        repeats_of(full_fabric(kTrims, "pattern: incast, to: h1, message: 2MB, bytes: 2MB, operation: read, fan-in: " +
                                           std::to_string(readers)));
    EXPECT_EQ(o.complete, static_cast<std::size_t>(readers));
    EXPECT_EQ(o.timeouts, 0u) << readers;
    EXPECT_EQ(o.again, o.trimmed) << readers << ": nothing was sent for nothing";
  }
}

// ---- Losses that nobody tells of
// --------------------------------------------------------------------------------------

TEST(UetRepeats, AnIncastWhoseSwitchesDropFinishes) {
  for (const char* rto : {"hosts.default.uet.rto=500us", "hosts.default.uet.rto=200us"})
    for (const int seed : {1, 2, 3, 4}) {
      const Repeats o =
          repeats_of(full_fabric(kDrops, "pattern: incast, to: h1, message: 2MB, bytes: 2MB, fan-in: 100"),
                     {rto, "run.seed=" + std::to_string(seed)});
      EXPECT_EQ(o.complete, 100u) << rto << ' ' << seed;
      EXPECT_EQ(o.failed, 0u);
      EXPECT_GT(o.dropped, 0u);
      EXPECT_LE(o.last_ns, 1.15 * needed_ns(100)) << rto << ' ' << seed;
    }
}

// ---- Packets that are only late
// ----------------------------------------------------------------------------------------

// The fourth spine is farther away than the others by sixty microseconds.
TEST(UetRepeats, PacketsOfALongerPathAreNotTakenForLost) {
  const Repeats o = repeats_of(R"(
name: uneven
nodes: { l1: {kind: switch}, l2: {kind: switch}, s1: {kind: switch}, s2: {kind: switch}, s3: {kind: switch}, s4: {kind: switch}, a: {kind: host}, b: {kind: host}, c: {kind: host}, d: {kind: host} }
links:
  - [a:1, l1:1]
  - [b:1, l1:2]
  - [c:1, l2:1]
  - [d:1, l2:2]
  - [l1:3, s1:1]
  - [l1:4, s2:1]
  - [l1:5, s3:1]
  - [l1:6, s4:1, { delay: 30us }]
  - [l2:3, s1:2]
  - [l2:4, s2:2]
  - [l2:5, s3:2]
  - [l2:6, s4:2, { delay: 30us }]
qos: { default: { classes: { 3: { lossless: false, queue-alpha: 1/16, ecn: { kmin: 40KB, kmax: 160KB, pmax: 100% }, trim: { dscp: 40, class: 5 } }, 5: { strict: true } } } }
traffic: [ { name: t, from: [a, b], to: [c, d], transport: uet, message: 1MB, bytes: 20MB } ]
run: { payload: elided }
)");
  EXPECT_EQ(o.complete, 2u);
  EXPECT_EQ(o.again, o.trimmed) << "of " << o.packets;
}

// What is late in a class that is paused waits: neither time nor the quick answer of a PROBE says of a loss.
TEST(UetRepeats, WhatIsPausedIsNotTakenForLost) {
  for (const char* set :
       {"hosts.default.uet.congestion=nscc", "hosts.default.uet.congestion=none", "hosts.default.uet.probe=true"}) {
    const Repeats o =
        repeats_of(full_fabric(kPauses, "pattern: incast, to: h1, message: 1MB, bytes: 1MB, fan-in: 32"), {set});
    EXPECT_EQ(o.complete, 32u) << set;
    EXPECT_EQ(o.again, 0u) << set;
  }
}

// A lossy class: packets wait in a queue of it, which PROBEs and their answers pass by.
TEST(UetRepeats, AProbeThatOvertakesDataDoesNotSayThatTheyAreLost) {
  const Repeats o = repeats_of(full_fabric(kTrims, "pattern: incast, to: h1, message: 1MB, bytes: 1MB, fan-in: 16"),
                               {"hosts.default.uet.probe=true"});
  EXPECT_EQ(o.complete, 16u);
  EXPECT_EQ(o.again, o.trimmed);
}

// Short flows, some of which share a receiver.
TEST(UetRepeats, WithoutFaultsNothingIsSentForNothing) {
  for (const char* traffic :
       {"pattern: random, flows: 3, bytes: 100KB", "pattern: random, flows: 8, bytes: 200KB, message: 50KB",
        "pattern: permutation, bytes: 200KB, message: 50KB", "pattern: incast, fan-in: 7, bytes: 100KB",
        "pattern: all-to-all, bytes: 30KB"})
    for (const int seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
      const Repeats o = repeats_of(R"(
name: base
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }
switches: { default: { buffer: 8MiB } }
qos:
  default:
    classes:
      3: { lossless: false, queue-alpha: 1/4, ecn: { kmin: 100KB, kmax: 400KB }, trim: { dscp: 40, class: 5 } }
      5: { strict: true }
      6: { strict: true }
hosts: { default: { uet: { rto: 500us } } }
traffic: [ { name: t, from: "h*", to: "h*", transport: uet, dscp: 26, )" +
                                       std::string(traffic) + " } ]\n",
                                   {"run.seed=" + std::to_string(seed)});
      EXPECT_EQ(o.complete, o.flows);
      EXPECT_EQ(o.again, o.trimmed) << traffic << ", seed " << seed;
      EXPECT_EQ(o.timeouts, 0u) << traffic << ", seed " << seed;
    }
}

}  // namespace
}  // namespace railyard::test
