// Figures are what one would compute by hand from what was sent and what arrived.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/report/summary.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::Not;

std::string two_hosts(const std::string& traffic, const std::string& faults, const std::string& run) {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
         "defaults: { link: { rate: 100Gbps, cable: 3m } }\ntraffic: [ { name: t, from: h1, to: h2, " +
         traffic + " } ]\nfaults: [ " + faults + " ]\nrun: " + run + "\n";
}

double figure(const report::Report& r, const std::string& name) {
  for (const report::Figure& f : report::summary(r))
    if (f.name == name) return f.value;
  ADD_FAILURE() << name << " is missing";
  return 0;
}

report::Report at(Scenario& s, Duration end) {
  s.run_until(end);
  return report::collect(s.lab(), {}, Instant{} + end);
}

constexpr const char* kCut = R"({ name: cut, on: "h2:1", at: 1ms, down: true })";

// The link of the receiver goes down for good after 1 ms of 20: goodput is of all 20.
class DeadFlow : public testing::TestWithParam<const char*> {};

TEST_P(DeadFlow, HasTheGoodputOfTheTimeThatItWasAskedToSend) {
  Scenario s(two_hosts(GetParam(), kCut, "{ duration: 20ms, drain: 1ms }"));
  const report::Report r = at(s, 21_ms);
  s.leave_the_books();
  const report::FlowReport& f = r.flows[0];
  EXPECT_EQ(f.goodput_ns, 20'000'000);
  EXPECT_EQ(f.goodput_bytes, f.delivered_bytes) << "nothing came in the drain";
  EXPECT_DOUBLE_EQ(*f.goodput_bps(), static_cast<double>(f.delivered_bytes) * 8 / 20e-3);
  EXPECT_GT(f.delivered_bytes, 0u);
  EXPECT_LT(*f.goodput_bps(), 5.2e9) << "a twentieth of the line rate";
  EXPECT_LT(*f.share(), 0.053);
  EXPECT_NEAR(figure(r, "goodput"), *f.goodput_bps(), 1);
  EXPECT_NEAR(*r.traffic[0].goodput_total_bps, *f.goodput_bps(), 1);
  // Of what was asked for: all of it where the flow has an end, the line rate all the time where it has none.
  const double asked = f.asked_bytes > 0 ? static_cast<double>(f.asked_bytes) : f.limit_bps * 20e-3 / 8;
  EXPECT_NEAR(figure(r, "delivered"), static_cast<double>(f.delivered_bytes) / asked, 1e-9);
  if (f.offered_bps > 0) EXPECT_LT(figure(r, "accepted"), 0.06);
}

INSTANTIATE_TEST_SUITE_P(
    Figures, DeadFlow,
    testing::Values("transport: roce, message: 64KiB, outstanding: 16",
                    "transport: roce, message: 64KiB, outstanding: 16, operation: read",
                    "transport: roce, message: 64KiB, outstanding: 16, qp-type: uc",
                    "transport: uet, message: 64KiB, outstanding: 16",
                    "transport: uet, message: 64KiB, outstanding: 16, operation: read",
                    "transport: uet, message: 4096B, service: uud, outstanding: 16", "transport: generator",
                    "transport: generator, rate: 50Gbps", "transport: roce, rate: 50Gbps, message: 64KiB",
                    // An end that it does not come to: it was asked to send all the time.
                    "transport: generator, bytes: 100MB", "transport: roce, bytes: 100MB, message: 64KiB"));

// 12,238,848 bytes arrive in the first millisecond, and nothing after it.
TEST(Figures, AWriterWhoseLinkGoesDownHasOneTwentiethOfTheRate) {
  Scenario s(two_hosts("transport: roce, message: 64KiB, outstanding: 16", kCut, "{ duration: 20ms, drain: 1ms }"));
  const report::Report r = at(s, 21_ms);
  s.leave_the_books();
  EXPECT_NEAR(*r.flows[0].goodput_bps(), 4.9e9, 0.1e9);
  EXPECT_THAT(r.text(), HasSubstr("4.9"));
  EXPECT_THAT(r.text(), HasSubstr("  note  completion        1 flow stalled: t/h1->h2 delivered nothing after "));
  EXPECT_THAT(r.text(), Not(HasSubstr("97.9 Gb/s")));
}

TEST(Figures, AFlowThatStopsEarlyOrStartsLateIsMeasuredOverItsOwnTime) {
  for (const std::string how : {"start: 1ms, stop: 3ms", "start: 8ms", "stop: 2ms"}) {
    Scenario s(two_hosts("transport: generator, rate: 40Gbps, " + how, "", "{ duration: 10ms }"));
    const report::Report r = at(s, 11_ms);
    // 4096 bytes of 4096 + 62 + 20 on the wire.
    EXPECT_NEAR(*r.flows[0].goodput_bps(), 40e9 * 4096 / 4178, 0.2e9) << how;
    EXPECT_NEAR(*r.flows[0].share(), 1, 0.005) << how;
    EXPECT_NEAR(figure(r, "accepted"), 1, 0.001) << how;
    EXPECT_LE(figure(r, "accepted"), 1) << how;
  }
}

TEST(Figures, AFlowThatCompletesHasTheGoodputOfItsCompletionTime) {
  for (const std::string how : {"transport: roce", "transport: roce, operation: read", "transport: uet",
                                "transport: generator", "transport: uet, operation: read"}) {
    Scenario s(two_hosts(how + ", bytes: 4MB, start: 3us", "", "{ duration: 10ms }"));
    const report::Report r = at(s, 11_ms);
    const report::FlowReport& f = r.flows[0];
    ASSERT_TRUE(f.fct_ns) << how;
    EXPECT_EQ(f.goodput_ns, *f.fct_ns) << how;
    EXPECT_EQ(f.goodput_bytes, 4'000'000u) << how;
    EXPECT_EQ(figure(r, "completed"), 1) << how;
    EXPECT_EQ(figure(r, "delivered"), 1) << how;
  }
}

// A QP gives up long before the run ends: then its time ends, too, and what it has delivered counts over that.
TEST(Figures, AFlowWithAnEndThatFailsIsMeasuredUntilItFailed) {
  Scenario s(two_hosts("transport: roce, bytes: 100MB, message: 64KiB", kCut, "{ duration: 20ms }"),
             {"hosts.default.roce.ack-timeout=1", "hosts.default.roce.retry-count=1"});
  const report::Report r = at(s, 21_ms);
  s.leave_the_books();
  const report::FlowReport& f = r.flows[0];
  ASSERT_TRUE(f.failed());
  EXPECT_EQ(f.goodput_ns, *f.roce->failed_ns);
  EXPECT_LT(f.goodput_ns, 10'000'000);
  EXPECT_FALSE(f.fct_ns);
}

// What had been posted when time was up still comes, and is not counted: a link has carried no more than it can.
TEST(Figures, TheDrainIsNotCounted) {
  Scenario s(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 5 }\n"
      "traffic: [ { name: t, pattern: incast, from: [h2, h3, h4, h5], to: h1, transport: roce, message: 1MiB, "
      "outstanding: 16 } ]\nhosts: { default: { roce: { congestion: none } } }\nrun: { duration: 100us, drain: 20ms }\n");
  const report::Report r = at(s, 20_ms);
  double sum = 0;
  std::uint64_t in_time = 0, all = 0;
  for (const report::FlowReport& f : r.flows) {
    sum += *f.goodput_bps();
    in_time += f.goodput_bytes;
    all += f.delivered_bytes;
  }
  EXPECT_GT(all, 20 * in_time) << "64 MiB were posted, and 100 us of 100 Gb/s are 1.25 MB";
  EXPECT_LE(sum, 100e9);
  EXPECT_GT(sum, 80e9);
  EXPECT_NEAR(figure(r, "goodput"), sum, 1e6);
  EXPECT_LE(figure(r, "goodput_part"), 1);
}

// Two writers into a lossy queue that marks: what go-back-N discards came with CE, too, and is in both counts.
TEST(Figures, TheShareOfMarkedPacketsIsOfThoseThatArrived) {
  Scenario s(
      "name: x\nqos: { default: { classes: { 3: { lossless: false, queue-limit: 100KB, ecn: { kmin: 10KB, kmax: 20KB, "
      "pmax: 100% } } } } }\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "defaults: { link: { rate: 25Gbps, cable: 3m } }\n"
      "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, transport: roce, message: 64KiB, outstanding: 128, "
      "path-mtu: 1024 } ]\nhosts: { default: { roce: { congestion: none } } }\nrun: { duration: 5ms, drain: 5ms }\n");
  const report::Report r = at(s, 10_ms);
  s.leave_the_books();
  bool discarded = false;
  for (const report::FlowReport& f : r.flows) {
    EXPECT_GT(f.marked, 0u);
    EXPECT_LE(f.marked, f.arrived_packets);
    EXPECT_DOUBLE_EQ(*f.ce_share(), static_cast<double>(f.marked) / static_cast<double>(f.arrived_packets));
    EXPECT_LE(*f.ce_share(), 1);
    EXPECT_LE(*f.retransmission_share(), 1);
    EXPECT_EQ(f.arrived_packets, f.delivered_packets + f.roce->discarded);
    discarded |= f.roce->discarded > 0;
  }
  EXPECT_TRUE(discarded) << "else this shows nothing";
}

// Responses are no requests: of READs what is retransmitted is held against the requests.
TEST(Figures, TheShareOfRetransmissionsOfReadsIsAShare) {
  Scenario s(two_hosts("transport: roce, operation: read, message: 4KiB, outstanding: 8, bytes: 1MB",
                       R"({ name: l, on: "h2:1", loss: 20% })", "{ duration: 20ms, drain: 2s }"),
             {"hosts.default.roce.ack-timeout=4"});
  s.run_until(1_s);
  s.leave_the_books();
  const report::FlowReport f = report::collect(s.lab(), {}).flows[0];
  ASSERT_GT(f.retransmitted(), 0u);
  EXPECT_LE(*f.retransmission_share(), 1);
  EXPECT_EQ(f.requester_packets, s.flow("t/h1->h2").messages().posted + f.retransmitted());
}

// A frame that nobody can count is "-" and null, not 0.
TEST(Figures, WhatNobodyMeasuredIsNothing) {
  Scenario s(two_hosts("rate: 10Gbps, payload: 1024B", "", "{ duration: 1ms }"),
             {"nodes.h2.attach.pcap.out=/dev/null"});
  const report::Report r = at(s, 2_ms);
  EXPECT_THAT(r.text(), Not(HasSubstr("0 b/s")));
  EXPECT_THAT(r.text(), Not(HasSubstr("0 ns")));
  const auto flow = nlohmann::json::parse(r.json())["flows"][0];
  EXPECT_GT(flow["packets"], 1000);
  for (const char* key : {"goodput_bps", "latency_ns", "delivered_bytes", "lost", "share", "arrival_bps", "ce_share"})
    EXPECT_TRUE(flow[key].is_null()) << key;
  const auto traffic = nlohmann::json::parse(r.json())["traffic"][0];
  for (const char* key : {"latency_ns", "delivered_bytes", "lost", "marked", "goodput_total_bps", "goodput_bps"})
    EXPECT_TRUE(traffic[key].is_null()) << key;
  EXPECT_FALSE(nlohmann::json::parse(r.json())["summary"].contains("lost"));
}

// Asked to send, and nothing comes: that is a goodput of 0, and no latency.
TEST(Figures, AFlowThatDeliversNothingHasAGoodputOfZeroAndNoLatency) {
  Scenario s(two_hosts("rate: 10Gbps", R"({ name: cut, on: "h2:1", at: 0us, down: true })", "{ duration: 1ms }"));
  const report::Report r = at(s, 2_ms);
  s.leave_the_books();
  EXPECT_EQ(*r.flows[0].goodput_bps(), 0);
  EXPECT_EQ(figure(r, "goodput_min"), 0);
  const auto flow = nlohmann::json::parse(r.json())["flows"][0];
  EXPECT_EQ(flow["goodput_bps"], 0);
  EXPECT_TRUE(flow["latency_ns"].is_null());
  EXPECT_FALSE(nlohmann::json::parse(r.json())["summary"].contains("latency_p50"));
}

TEST(Figures, AFlowThatHasNotBegunHasNone) {
  Scenario s(two_hosts("rate: 10Gbps, start: 5ms", "", "{ duration: 10ms }"));
  const report::Report r = at(s, 1_ms);
  EXPECT_FALSE(r.flows[0].goodput_bps());
  EXPECT_TRUE(nlohmann::json::parse(r.json())["flows"][0]["goodput_bps"].is_null());
}

// A queue is held by a storm of pauses for 100 us, and marked at dequeue as it drains.
TEST(Figures, SentencesSayWhatTheTableOfPausesSays) {
  Scenario s(
      "name: x\nqos: { default: { classes: { 3: { lossless: true, xoff: 1MB, ecn: { kmin: 50000B, kmax: 51000B, pmax: "
      "100%, mark: dequeue } } } } }\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
      "traffic: [ { name: t, from: h1, to: h2, payload: 944B, bytes: 95344B, start: 20us } ]\n"
      "faults: [ { name: hold, on: \"h2:1\", at: 0us, for: 100us, pfc-storm: 3 } ]\nrun: { duration: 1ms, drain: 1ms }\n");
  const report::Report r = at(s, 2_ms);
  EXPECT_EQ(s.at("leaf1:2", 3).ecn_marked, 51u);
  EXPECT_GT(s.at("leaf1:2", 3).paused, 99_us);
  EXPECT_THAT(r.text(), HasSubstr("Ports paused by PFC (1 port-class, longest first)\n"));
  EXPECT_THAT(r.text(), HasSubstr("; PFC paused 1 switch port ("));
  EXPECT_THAT(r.text(), HasSubstr("no ingress group crossed XOFF; PFC paused 1 switch port ("));
  EXPECT_THAT(r.text(), Not(HasSubstr("nobody")));
  EXPECT_THAT(r.text(), Not(HasSubstr("no PFC pause frames")));
}

// Without room behind the ingress port frames are dropped there, and not at the queue that they were bound for.
TEST(Figures, DropsAreListedWhereTheyHappened) {
  const std::string incast =
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "traffic: [ { name: t, pattern: incast, from: [h2, h3], to: h1, dscp: 8, bytes: 4MiB } ]\nrun: { duration: 5ms }\n";
  Scenario s(incast, {"switches.default.buffer=1MiB"});
  const report::Report r = at(s, 5_ms);
  const auto json = nlohmann::json::parse(r.json());
  std::uint64_t listed = 0;
  for (const auto& d : json["drops"]) {
    const bool egress = d["reason"] == "egress_full";
    EXPECT_EQ(d["side"], egress ? "egress" : "ingress") << d;
    EXPECT_EQ(d["port"] == 1, egress) << "h1 is at port 1, the senders are at 2 and 3: " << d;
    EXPECT_EQ(d["class"], 1);
    listed += d["frames"].get<std::uint64_t>();
  }
  EXPECT_GT(listed, 0u);
  EXPECT_EQ(listed, s.dropped());
}

// Kmin 50,000 B are 195 cells of 256 B; a frame of 1006 B takes 4: 48 frames are not above it, the 49th is.
TEST(Figures, ThresholdsAreShownAsTheyActInCells) {
  Scenario s(
      "name: x\nqos: { default: { classes: { 3: { lossless: true, xoff: 1000000B, ecn: { kmin: 50000B, kmax: 51200B } } "
      "} } }\n" +
      two_hosts("payload: 944B, rate: 10Gbps", "", "{ duration: 100us }").substr(8));
  const report::Report r = at(s, 1_ms);
  ASSERT_EQ(r.thresholds.size(), 3u);
  const auto expect = [&](std::size_t i, const char* name, std::int64_t cells, std::int64_t effective) {
    EXPECT_EQ(r.thresholds[i].name, name);
    EXPECT_EQ(r.thresholds[i].frame, 1006u);
    EXPECT_EQ(r.thresholds[i].cells, cells);
    EXPECT_EQ(r.thresholds[i].effective.n, effective);
  };
  expect(0, "kmin", 195, 48 * 1006);
  expect(1, "kmax", 200, 50 * 1006);
  expect(2, "xoff", 3907, 977 * 1006);  // 3907 / 4 = 976.75
  EXPECT_THAT(r.text(), HasSubstr("  class 3 of default, frames of 1006 B: kmin 50 KB (195 cells, effective 48.3 KB), "));
}

// 1 % of what comes to the receiver is lost, and 5 % of the rest comes twice: each that was lost counts, and no copy hides
// it.
TEST(Figures, CopiesDoNotHideLosses) {
  for (const char* how : {"rate: 20Gbps", "transport: uet", "transport: roce", "transport: roce, operation: read, message: 64KiB, outstanding: 16",
                          "transport: roce, qp-type: uc", "transport: uet, service: rudi"}) {
    SCOPED_TRACE(how);
    const std::string on = "h2:1 in";  // what READs ask for comes in there too
    Scenario s(two_hosts("bytes: 20MB, " + std::string(how),
                         "{ name: lose, on: \"" + on + "\", loss: 1% }, { name: copy, on: \"" + on +
                             "\", duplicate: true, probability: 5% }",
                         "{ duration: 20ms }"),
               {"hosts.default.roce.loss-recovery=selective-repeat"});
    s.run_to_the_end();
    const report::Report r = s.report();
    const report::FlowReport& f = r.flows[0];
    EXPECT_GT(f.lost, 20u);
    // UET has frames without payload that way: of closing PDCs, and PROBEs.
    const std::uint64_t others = std::string(how).find("uet") != std::string::npos ? 5 : 0;
    EXPECT_LE(f.lost, s.fault("lose").frames);
    EXPECT_GE(f.lost + others, s.fault("lose").frames);
    EXPECT_LE(f.duplicated, s.fault("copy").frames);
    EXPECT_GE(f.duplicated + others, s.fault("copy").frames);
    EXPECT_EQ(f.packets, f.arrived_packets - f.duplicated + f.lost + f.in_flight + f.trimmed);
  }
}

// An MTU fault at a NIC takes frames of a class that is lossless at the switch: what the table lists the verdict names.
TEST(Figures, TheVerdictOnLosslessClassesNamesDropsAtNics) {
  Scenario s(two_hosts("rate: 10Gbps", "{ name: m, on: \"h2:1\", at: 1ms, for: 1ms, mtu: 1500 }", "{ duration: 3ms }"));
  const report::Report r = at(s, 4_ms);
  const std::uint64_t giants = s.drops(DropReason::kGiant);
  EXPECT_GT(giants, 100u);
  EXPECT_THAT(r.text(), HasSubstr("0 frames dropped in lossless classes, allowed 0; not counted: " +
                                  std::to_string(giants) + " frames of other traffic dropped for reasons other than buffers"));
}

TEST(Figures, ADropAtIngressIsNamedWithItsPortAndClass) {
  Scenario s("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
             "traffic: [ { name: t, from: h1, to: h2, rate: 10Gbps } ]\nrun: { duration: 100us }\n"
             "faults: [ { name: b, on: \"h1:1\", bit-errors: 0.0001 } ]\n");
  const report::Report r = at(s, 1_ms);
  EXPECT_THAT(r.text(), HasSubstr("at ingress leaf1:1"));
}

}  // namespace
}  // namespace railyard::test
