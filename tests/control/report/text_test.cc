// The report for people: what happened, and nothing that did not.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Text, TellsTheStoryOfTheSample) {
  EXPECT_EQ(sample().text(), R"(incast: 1 ms of simulated time, virtual clock, seed 7, elided payload

flow          goodput    packets     lost        CE       FCT   latency p50 / p99 / max
in/h2->h1   48.5 Gb/s      1,000        0    25.0 %    676 us   2 us / 250 us / 302 us
in/h3->h1   48.5 Gb/s      1,000      100    27.8 %         -   2 us / 250 us / 302 us

Deepest egress queues
  port           towards        class      used    deepest    = waiting  CE marks    drops
  leaf1:1        h1:1               3    98.7 %    1.25 MB       100 us       250        0
  leaf1:1        h1:1               1    98.7 %     500 KB        40 us         0      100

ECMP balance (1 next-hop group, worst first)
  switch         members     bytes  max/mean   Jain   most went to
  leaf1                2    400 KB      1.50  0.800   leaf1:3 (spine1:1)
  Out-of-order packets at receivers: 0 of 1,900 (0.0 %)

Ports paused by PFC (1 port-class, longest first)
  port           paused by      class     paused   of time   XOFFs
  h2:1           leaf1:2            3     340 us    34.0 %      12

Dropped:
  egress_full                 100   at egress leaf1:1 class 1

In short: the deepest queue was 1.25 MB, at leaf1:1 to h1:1, class 3; switches marked 250 frames CE; PFC paused 1 host NIC (12 XOFF frames sent by switches).

Verdicts
  pass  lossless          0 frames dropped in lossless classes, allowed 0
  pass  deadlock          0 deadlocks
  pass  ce-before-xoff    no ingress group crossed XOFF; PFC paused 1 host NIC (12 XOFF frames sent by switches)
  FAIL  completion        1 of 2 finite flows completed
  pass  data              0 packets corrupted; packet accounting balances

Likely causes (`railyard doctor REPORT.json` has evidence and remedies)
  marks-unexplained at fabric (95 % sure): Packets arrive with CE that no switch of the fabric has set.
  buffer-full at leaf1:1 (75 % sure): More comes to a port than it can send, and its switch runs out of buffer: an incast in a lossy class.

Engine: 1,900 packet-hops in 0.25 s of CPU (0.01 M per core-second), 0.50 s of wall time, 64 MB of memory
Trace digest: 0000000000c0ffee
Packet accounting: balanced; 0 packets in flight.
)");
}

// A switch port where frames passed one by one.
PortReport quiet_port(int number) {
  PortReport p;
  p.node = "leaf2";
  p.port = number;
  p.peer = "h9:1";
  p.is_switch = true;
  p.rate_bps = 100'000'000'000;
  p.counters.classes[3].tx_packets = 10;
  p.counters.classes[3].tx_octets = 41'620;
  p.counters.classes[3].max_depth_octets = 2 * 4162;
  return p;
}

TEST(Text, QueuesWhereNothingWaitedAreCountedOnly) {
  Report r = sample();
  for (int i = 1; i <= 30; ++i) r.ports.push_back(quiet_port(i));
  EXPECT_THAT(r.text(), AllOf(Not(HasSubstr("leaf2:")),
                              HasSubstr("30 other queues: back-to-back frames only, no queueing")));
}

TEST(Text, WithoutAnyQueueSaysSoInOneLine) {
  Report r;
  r.ports = {quiet_port(1)};
  EXPECT_THAT(r.text(), AllOf(HasSubstr("In short: no queueing; no PFC pause frames were sent.\n"),
                              Not(HasSubstr("Deepest egress")), Not(HasSubstr("paused by")),
                              HasSubstr("No frames were dropped.")));
}

TEST(Text, AShallowQueueWithDropsIsOfInterest) {
  Report r;
  r.ports = {quiet_port(1)};
  r.ports[0].counters.classes[3].drops.of(static_cast<std::size_t>(DropReason::kEgressFull)) = 1;
  EXPECT_THAT(r.text(), HasSubstr("  leaf2:1        h9:1"));
}

TEST(Text, OfManyQueuesTheDeepestEightAreShownAndTheRestSummedUp) {
  Report r = sample();
  for (int i = 1; i <= 20; ++i) {
    r.ports.push_back(quiet_port(i));
    r.ports.back().counters.classes[3].max_depth_octets = 100'000u + static_cast<unsigned>(i) * 1000;
  }
  EXPECT_THAT(r.text(), AllOf(HasSubstr("leaf2:20 "), HasSubstr("leaf2:15 "), Not(HasSubstr("leaf2:14 ")),
                              HasSubstr("  and 14 more, up to 114 KB\n")));
}

TEST(Text, OfManyPausedPortsTheLongestPausedAreShown) {
  Report r = sample();
  for (int i = 1; i <= 10; ++i) {
    PortReport p = r.ports[2];
    p.node = "x" + std::to_string(i);
    p.counters.classes[3].paused = Duration{i * 1'000'000};
    r.ports.push_back(p);
  }
  EXPECT_THAT(r.text(), AllOf(HasSubstr("(11 port-classes, longest first)"), HasSubstr("  x4:1 "), Not(HasSubstr("  x3:1 ")),
                              HasSubstr("  and 3 more, up to 3 us\n")));
}

TEST(Text, FlowsThatSentNothingAreNamedInOneLine) {
  Report r = sample();
  FlowReport silent;
  silent.name = "later/h4->h1";
  r.flows.push_back(silent);
  EXPECT_THAT(r.text(), HasSubstr("1 flow sent nothing: later/h4->h1\n"));
}

TEST(Text, ManyFlowsAreOneLinePerTraffic) {
  Report r = sample();
  const FlowReport one = r.flows[0];
  for (int i = 0; i < 20; ++i) {
    r.flows.push_back(one);
    r.flows.back().name = "out/h" + std::to_string(i) + "->h1";
    r.flows.back().goodput_bytes = 125'000u * static_cast<unsigned>(i + 1);
    r.flows.back().goodput_ns = 1'000'000;
  }
  const std::string text = r.text();
  EXPECT_THAT(text, Not(HasSubstr("out/h3")));
  EXPECT_THAT(text, HasSubstr("in                    2     48.5 Gb/s / 48.5 Gb/s / 48.5 Gb/s        2,000      100"));
  EXPECT_THAT(text, HasSubstr("out                  20            1 Gb/s / 10 Gb/s / 20 Gb/s       20,000        0"));
}

TEST(Text, BooksThatDoNotBalanceAreLoud) {
  Report r = sample();
  r.audit.balanced = false;
  r.audit.unbalanced = {"leaf1: received 1 is not 2"};
  EXPECT_THAT(r.text(), HasSubstr("PACKET ACCOUNTING DOES NOT BALANCE:\n  leaf1: received 1 is not 2\n"));
}

TEST(Text, WhatIsLeftInTheFabricIsSaid) {
  Report r = sample();
  r.audit.drained = false;
  r.audit.queued = 1200;
  r.audit.on_the_wire = 3;
  EXPECT_THAT(r.text(), HasSubstr("Packet accounting: balanced; 1,200 frames still queued, 3 on the wire.\n"));
}

TEST(Text, OnlyTheWallClockIsLate) {
  Report r = sample();
  EXPECT_THAT(r.text(), Not(HasSubstr("Wall clock")));
  r.engine.lateness_ns = Percentiles{100, 200, 300'000, 400, 500, 600'000};
  r.engine.slip_ns = 7;
  r.engine.gaps = 2;
  EXPECT_THAT(r.text(),
              HasSubstr("Wall clock: lateness p50 100 ns / p99 300 us / max 600 us; simulated time slipped by "
                        "7 ns; 2 scheduling gaps"));
}

}  // namespace
}  // namespace railyard::report
