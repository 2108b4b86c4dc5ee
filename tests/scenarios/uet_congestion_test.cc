// What UET's endpoints make of a fabric that is as full as it can be, as they are without being told anything.
//
//   8 leaves x 16 hosts, 16 spines, 100 Gb/s; a queue holds about a BDP, and what it has no room for is trimmed; no PFC
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"
#include "tests/scenarios/uet_full_fabric.h"

namespace railyard::test {
namespace {

std::string fabric(const std::string& traffic) { return full_fabric(kTrims, "message: 2MB, bytes: 2MB, " + traffic); }

struct Outcome {
  double last_ns = 0;     // when the last flow was complete
  double over_ideal = 0;  // that against one that is alone
  std::uint64_t packets = 0, trimmed = 0, retransmitted = 0;
};

// Every flow is complete and right, and nothing was lost.
Outcome run(const std::string& traffic, const std::vector<std::string>& sets = {}) {
  Scenario s(fabric(traffic), sets);
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  Outcome o;
  std::int64_t last = 0, ideal = 0;
  for (const report::FlowReport& f : r.flows) {
    EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    EXPECT_EQ(f.uet->verified, f.uet->messages) << f.name;
    EXPECT_EQ(f.lost + f.corrupted, 0u) << f.name;
    last = std::max(last, f.fct_ns.value_or(0));
    ideal = std::max(ideal, f.ideal_ns.value_or(0));
    o.packets += f.packets;
    o.trimmed += f.trimmed;
    o.retransmitted += f.uet->retransmitted_packets;
  }
  o.last_ns = static_cast<double>(last);
  o.over_ideal = o.last_ns / static_cast<double>(ideal);
  return o;
}

// 126 octets around each 4096.
double link_time_ns(double flows) { return flows * 2e6 * 8 * (4096 + 126) / 4096 / 100; }

TEST(UetCongestion, TheLastFlowOfAPermutationIsNearTheIdealOne) {
  for (const char* seed : {"run.seed=1", "run.seed=2", "run.seed=3"}) {
    const Outcome o = run("pattern: permutation", {seed});
    EXPECT_LE(o.over_ideal, 1.1) << seed;
    EXPECT_EQ(o.retransmitted, o.trimmed) << "nothing was sent for nothing";
  }
}

TEST(UetCongestion, TheReferencesWindowLeavesLinksIdle) {
  const Outcome o = run("pattern: permutation", {"hosts.default.uet.nscc.max-window=3/2"});
  EXPECT_GT(o.over_ideal, 1.1);
}

TEST(UetCongestion, AHundredToOneFillTheLinkAndFewPacketsAreTrimmed) {
  const Outcome o = run("pattern: incast, fan-in: 100, to: h1");
  EXPECT_LE(o.last_ns, 1.05 * link_time_ns(100));
  EXPECT_LT(o.trimmed, o.packets / 3);
}

// How long a packet in parts of a window waits follows from the round trip: also of those that were cut many times.
TEST(UetCongestion, AHundredToOneAtFourHundredGigabitsFillTheLinkAsWell) {
  for (const char* seed : {"run.seed=1", "run.seed=2", "run.seed=3"}) {
    const Outcome o = run("pattern: incast, fan-in: 100, to: h1",
                          {"defaults.link.rate=400Gbps", "switches.default.buffer=102400KB",
                           "qos.default.classes.3.ecn.kmin=80KB", "qos.default.classes.3.ecn.kmax=320KB", seed});
    EXPECT_LE(o.last_ns, 1.05 * link_time_ns(100) / 4) << seed;
    EXPECT_EQ(o.retransmitted, o.trimmed) << "nothing was sent for nothing";
  }
}

TEST(UetCongestion, WithoutPartsOfAPacketEachIsTrimmedAgainAndAgain) {
  const Outcome o = run("pattern: incast, fan-in: 100, to: h1", {"hosts.default.uet.nscc.min-window=1"});
  EXPECT_GT(o.trimmed, o.packets / 2);
}

// Packets of RUDI belong to no PDC, and a READ's data come from targets that know nothing of one another: the window is
// of the way from one NIC to another. Without one each packet was cut twenty times.
TEST(UetCongestion, AnIncastOfRudiFillsTheLinkAndFewPacketsAreTrimmed) {
  for (const char* operation : {"write", "read"}) {
    const Outcome o = run(std::string("pattern: incast, fan-in: 16, to: h1, service: rudi, operation: ") + operation);
    EXPECT_LE(o.last_ns, 1.05 * link_time_ns(16)) << operation;
    EXPECT_LT(o.trimmed, o.packets / 3);
    EXPECT_EQ(o.retransmitted, o.trimmed) << "nothing goes twice for nothing";
  }
}

// ---- Where switches do not trim ---------------------------------------------------------------------------------------

// 32 x 1 MB through 400 KB of queue: what it has no room for is found out in round trips, not by timeouts of 5 ms.
TEST(UetCongestion, AnIncastWithoutTrimmingLeavesTheLinkNotIdle) {
  for (const char* service : {"rud", "rudi"})
    for (int seed = 1; seed <= 5; ++seed) {
      std::string from;
      for (int h = 1; h <= 32; ++h) from += (h > 1 ? ", h" : "h") + std::to_string(h);
      Scenario s("name: i\ndefaults: { link: { rate: 100Gbps, cable: 3m } }\n"
                 "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 33 }\n"
                 "qos: { default: { classes: { 3: { lossless: false, queue-limit: 400KB, ecn: off } } } }\n"
                 "traffic: [ { name: t, pattern: incast, from: [" +
                 from + "], to: h33, transport: uet, bytes: 1MB, service: " + service + " } ]\nrun: { seed: " +
                 std::to_string(seed) + " }\n");
      s.run_to_the_end();
      s.expect_books_balance();
      double last = 0;
      for (const report::FlowReport& f : s.report().flows) {
        ASSERT_TRUE(f.fct_ns.has_value()) << f.name;
        last = std::max(last, static_cast<double>(*f.fct_ns));
      }
      EXPECT_LE(last, 1.15 * link_time_ns(32) / 2) << service << seed;  // 1 MB each, not 2
    }
}

// ---- A path that holds little -----------------------------------------------------------------------------------------

// One flow alone: the window is hardly more than the octets that an ACK is for, and does not wait for it. At 50 Gb/s
// it is four packets, of which two wait for the ACK of the other two: that costs a twelfth.
TEST(UetCongestion, AShortPathOfAnyRateIsFull) {
  for (const char* rate : {"10Gbps", "25Gbps", "50Gbps", "100Gbps"})
    for (const char* service : {"rud", "rod", "rudi"}) {
      Scenario s(std::string("name: s\ndefaults: { link: { rate: ") + rate +
                 ", cable: 3m } }\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
                 "traffic: [ { name: t, from: h1, to: h2, transport: uet, bytes: 10MB, service: " +
                 service + " } ]\n");
      s.run_to_the_end();
      const report::FlowReport& f = s.report().flows.at(0);
      ASSERT_TRUE(f.fct_ns && f.ideal_ns);
      EXPECT_LT(static_cast<double>(*f.fct_ns), (rate[0] == '5' ? 1.09 : 1.01) * static_cast<double>(*f.ideal_ns)) << rate << service;
    }
}

}  // namespace
}  // namespace railyard::test
