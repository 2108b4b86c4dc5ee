// Verdicts on whole labs: what lossless classes lose, and whose doing it is; unreliable services; pauses.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/judge.h"
#include "control/report/verdict.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;
using Answer = report::Verdict::Answer;

report::Verdict verdict(Scenario& s, const std::string& name) {
  for (const report::Verdict& v : s.report().verdicts())
    if (v.name == name) return v;
  return {};
}

//   h1, h2 - leaf1 - spine1 - leaf2 - h3, h4        h1 and h2 write to h3
std::string incast(const std::string& more, const std::string& traffic = "transport: roce, message: 64KB") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2, spine-profile: spine }\n"
         "switches: { default: { buffer: 1MiB }, spine: { buffer: 1MiB, qos: spine } }\n"
         "hosts: { default: { roce: { ack-timeout: 6, congestion: none } } }\n"
         "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, bytes: 4MB, " +
         traffic + " } ]\n" + more;
}
constexpr const char* kLossless = "{ classes: { 3: { lossless: true, alpha: 1/8 } } }";
constexpr const char* kLossy = "{ classes: { 3: { queue-alpha: 1/64 } } }";
std::string qos(const std::string& leaves, const std::string& spines) {
  return "qos: { default: " + leaves + ", spine: " + spines + " }\n";
}

TEST(LosslessVerdict, LosslessEverywhereLosesNothing) {
  Scenario s(incast(qos(kLossless, kLossless)));
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_EQ(verdict(s, "lossless").answer, Answer::kPass) << verdict(s, "lossless").text;
}

// Drops where the class is lossy count, since it is lossless elsewhere on the path; also those of collectives, and of UET.
TEST(LosslessVerdict, ALossyHopOnALosslessPathFails) {
  const std::string collective = "collectives: [ { name: c, collective: all-to-all, size: 8MiB, start: 3ms } ]\n";
  // The spine's link to leaf2 is the bottleneck.
  const std::string slow = "faults: [ { name: slow, on: spine1:2, rate: 1/4 } ]\n";
  for (const std::string& lab :
       {incast(qos(kLossless, kLossy) + slow), incast(qos(kLossless, kLossy) + slow, "transport: uet, message: 64KB"),
        incast(qos(kLossless, kLossy) + slow + collective, "dscp: 0, rate: 1Gbps")}) {
    Scenario s(lab);
    s.run_until(20_ms);
    const report::Verdict v = verdict(s, "lossless");
    EXPECT_EQ(v.answer, Answer::kFail) << v.text << lab;
    EXPECT_NE(v.text.find(" RDMA frames dropped in lossless classes, allowed 0: egress_full "), v.text.npos) << v.text;
    EXPECT_NE(v.text.find(" at spine1:2 class 3"), v.text.npos) << v.text;
    const report::Report r = s.report();
    ASSERT_TRUE(r.lossless_drops);
    EXPECT_EQ(r.lossless_drops->rdma, s.drops(DropReason::kEgressFull));
  }
}

// The generator's frames have no claim to it where the class is lossy.
TEST(LosslessVerdict, FramesOfTheGeneratorCountOnlyWhereTheClassIsLossless) {
  Scenario lossy(incast(qos(kLossy, kLossy), "dscp: 26"));
  lossy.run_to_the_end();
  EXPECT_GT(lossy.dropped(), 0u);
  EXPECT_EQ(verdict(lossy, "lossless").answer, Answer::kOpen) << verdict(lossy, "lossless").text;
}

TEST(LosslessVerdict, RoceThatIsLossyEverywhereIsANoteWithItsDrops) {
  Scenario s(incast(qos(kLossy, kLossy)));
  s.run_to_the_end();
  const report::Verdict v = verdict(s, "lossless");
  EXPECT_EQ(v.answer, Answer::kNote);
  EXPECT_NE(v.text.find("RoCE runs in a lossy class (class 3 at leaf1): "), v.text.npos) << v.text;
  EXPECT_EQ(s.report().lossless_drops->dropped_lossy, s.dropped());
  EXPECT_GT(s.dropped(), 0u);
}

// Leaves are lossy, the spine is lossless. h1 and h2 at leaf1 overload h3 there, and never see the spine; h4 crosses it
// to h5. What leaf1 drops towards h3 is of flows that are lossy everywhere.
TEST(LosslessVerdict, DropsOfALossyFlowAreNotThoseOfAnotherInItsClassAtTheSameSwitch) {
  const std::string lab =
      "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4, spine-profile: spine }\n"
      "switches: { default: { buffer: 1MiB }, spine: { buffer: 1MiB, qos: spine } }\n"
      "hosts: { default: { roce: { ack-timeout: 6, congestion: none } } }\n" +
      qos(kLossy, kLossless) +
      "traffic:\n"
      "  - { name: local, pattern: incast, from: [h1, h2], to: h3, bytes: 4MB, transport: roce, message: 64KB }\n"
      "  - { name: far, from: h4, to: h5, bytes: 1MB, transport: roce, message: 64KB }\n";
  Scenario s(lab);
  s.run_to_the_end();
  EXPECT_GT(s.dropped(), 0u);
  const report::Verdict v = verdict(s, "lossless");
  EXPECT_EQ(v.answer, Answer::kNote) << v.text;
  EXPECT_EQ(s.report().lossless_drops->rdma, 0u);
  EXPECT_EQ(s.report().lossless_drops->dropped_lossy, s.dropped());
}

TEST(LosslessVerdict, WhatFaultsLoseIsCountedAndDoesNotFail) {
  for (const char* fault : {"on: spine1:2, loss: 1%", "on: spine1:2, bit-errors: 1e-6",
                            "on: spine1:2, flap: { down: 50us, up: 200us }", "on: spine1:2, probability: 1%, corrupt: true"}) {
    Scenario s(incast(qos(kLossless, kLossless) + "faults: [ { name: f, for: 1ms, " + fault + " } ]\n"));
    s.run_until(2_s);
    const report::Verdict v = verdict(s, "lossless");
    EXPECT_EQ(v.answer, Answer::kPass) << fault << v.text;
    EXPECT_NE(v.text.find("; not counted: "), v.text.npos) << fault << v.text;
    EXPECT_GT(s.report().lossless_drops->to_faults, 0u) << fault;
  }
}

// A fault that has the fabric drop does fail it: the buffer was full.
TEST(LosslessVerdict, ANicThatIgnoresPausesFailsTheSwitchThatDrops) {
  Scenario s(incast(qos(kLossless, kLossless) + "faults: [ { name: deaf, on: [h1, h2], ignore-pause: true } ]\n",
                    "transport: roce, message: 64KB, outstanding: 64"));
  s.run_until(20_ms);
  const report::Verdict v = verdict(s, "lossless");
  EXPECT_EQ(v.answer, Answer::kFail) << v.text;
  EXPECT_NE(v.text.find("headroom_full"), v.text.npos) << v.text;
}

TEST(CompletionVerdict, UnreliableServicesMayLose) {
  const std::string fault = "faults: [ { name: f, on: leaf2:1, loss: 1% } ]\n";
  for (const char* transport : {"transport: uet, service: uud, operation: send, message: 4KB",
                                "transport: roce, qp-type: uc, message: 4KB"}) {
    Scenario s(incast(qos(kLossless, kLossless) + fault, transport));
    s.run_until(50_ms);
    const report::Verdict v = verdict(s, "completion");
    EXPECT_EQ(v.answer, Answer::kPass) << v.text;
    EXPECT_NE(v.text.find("over UC or UUD ended with "), v.text.npos) << v.text;
    EXPECT_LT(s.report().traffic.at(0).complete, 2u);
  }
  Scenario reliable(incast(qos(kLossless, kLossless) + "faults: [ { name: f, on: leaf2:1, down: true } ]\n"));
  reliable.run_until(1_ms);
  EXPECT_EQ(verdict(reliable, "completion").answer, Answer::kFail);
}

// Packets of collectives are held against the budget, too.
TEST(LatencyVerdict, IsOfFlowsAndOfCollectivesWhereABudgetIsSet) {
  for (const char* transport : {"roce", "uet"}) {
    const std::string lab =
        "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
        "collectives: [ { name: c, collective: all-reduce, size: 1MiB, transport: " + std::string(transport) + " } ]\n";
    Scenario silent(lab);
    silent.run_to_the_end();
    EXPECT_EQ(verdict(silent, "latency").name, "") << "no budget";
    EXPECT_TRUE(silent.report().rank_latency.empty());
    Scenario wide(lab, {"run.budgets.scale-out=1s"});
    wide.run_to_the_end();
    EXPECT_EQ(verdict(wide, "latency").answer, Answer::kPass) << verdict(wide, "latency").text;
    EXPECT_EQ(wide.report().rank_latency.size(), 4u) << "each NIC receives";
    EXPECT_NE(verdict(wide, "latency").text.find("0 of 4 NICs with ranks over budget"), std::string::npos)
        << verdict(wide, "latency").text;
    Scenario tight(lab, {"run.budgets.scale-out=1us"});
    tight.run_to_the_end();
    EXPECT_EQ(verdict(tight, "latency").answer, Answer::kFail) << "4 KB at 100 Gb/s take 335 ns per hop alone";
    EXPECT_NE(verdict(tight, "latency").text.find("budget 1 us: collectives at h"), std::string::npos)
        << verdict(tight, "latency").text;
  }
}

}  // namespace
}  // namespace railyard::test
