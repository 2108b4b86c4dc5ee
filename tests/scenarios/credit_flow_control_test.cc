// Credit-based flow control: nothing is lost, nobody is paused, and what credits cost is exact.
#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/spec/spec_error.h"
#include "tests/scenarios/fault_scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

//   h1 - leaf1:1   leaf1:2 - h2   100 Gb/s, 3 m; h1 sends frames of 4158 octets (17 cells) as fast as it may.
constexpr const char* kPair = R"(
name: pair
switches: { default: { latency: 600ns, pause-response: 500ns } }
hosts: { default: { latency: 600ns, pause-response: 500ns } }
qos: { default: { classes: { 3: { lossless: true, cbfc: { credits: 35KB, update: 256B } } } } }
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
defaults: { link: { rate: 100Gbps, cable: 3m, mtu: 4140 } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [{ name: t, from: h1, to: h2, dscp: 26, payload: 4096B }]
run: { duration: 1ms }
)";
constexpr Duration kFrame = 4178 * 80_ps;

double frames_per_second(Scenario& s) {
  s.run_until(200_us);
  const std::uint64_t before = s.flow("t/h1->h2").received().packets;
  s.run_until(1000_us);
  return static_cast<double>(s.flow("t/h1->h2").received().packets - before) / 800e-6;
}

TEST(CreditFlowControl, ThroughputIsWhatTheCreditsAreWorthPerRoundTrip) {
  // A frame to the switch and through it, its departure, an update of 8 octets back, and the reaction.
  const Duration round = (kFrame - 12 * 80_ps) + 15_ns + 600_ns + kFrame + 8 * 80_ps + 15_ns + 500_ns;
  for (const int frames : {2, 3, 4}) {
    Scenario s(kPair, {"qos.default.classes.3.cbfc.credits=" + std::to_string(frames * 17 * 256) + "B"});
    const double expected = frames / (static_cast<double>(round.ps) * 1e-12);
    EXPECT_NEAR(frames_per_second(s), expected, 0.005 * expected) << frames;
    EXPECT_LE(s.at("leaf1:1", 3).max_ingress_cells, static_cast<std::uint64_t>(frames) * 17);
    s.run_to_the_end();
    // What of each round trip is not spent sending.
    const double waits = 1 - frames * static_cast<double>(kFrame.ps) / static_cast<double>(round.ps);
    EXPECT_NEAR(static_cast<double>(s.at("h1:1", 3).stalled.ps) * 1e-9, waits, 0.01) << frames;
    EXPECT_EQ(s.dropped(), 0u);
  }
}

TEST(CreditFlowControl, AutomaticCreditsKeepTheLinkBusy) {
  for (const char* cable : {"3m", "300m"}) {
    Scenario s(kPair, {"qos.default.classes.3.cbfc=on", std::string("defaults.link.cable=") + cable});
    EXPECT_NEAR(frames_per_second(s), 1e12 / static_cast<double>(kFrame.ps), 0.002 * 3e6) << cable;
    EXPECT_EQ(s.at("h1:1", 3).stalled, 0_ns) << cable;
  }
}

TEST(CreditFlowControl, SmallFramesAsWell) {
  Scenario s(kPair, {"qos.default.classes.3.cbfc=on", "traffic.t.payload=200B"});
  s.run_to_the_end();
  EXPECT_EQ(s.at("h1:1", 3).stalled, 0_ns);
  EXPECT_EQ(s.dropped(), 0u);
}

// Eight send to h1, at the end of a path of two switches; h16 sends past them.
constexpr const char* kIncast = R"(
name: incast
switches: { default: { buffer: 4MiB } }
qos: { default: { classes: { 3: { lossless: true, cbfc: on } } } }
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 8 }
traffic:
  - { name: in, pattern: incast, from: [h9, h10, h11, h12, h13, h14, h2, h3], to: h1, dscp: 26, payload: 1024B, bytes: 500KB }
  - { name: past, from: h16, to: h4, dscp: 26, payload: 300B, bytes: 100KB }
run: { drain: 20ms }
)";

struct Sums {
  std::uint64_t xoffs = 0;
  Duration paused{};
  Duration stalled{};
  std::uint64_t messages = 0;
  std::uint64_t heard = 0;
};
Sums sums(Scenario& s) {
  Sums all;
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports) {
      all.messages += p.credit_messages_sent;
      all.heard += p.credit_messages_received;
      for (const ClassCounters& c : p.classes) {
        all.xoffs += c.xoff_sent;
        all.paused += c.paused;
        all.stalled += c.stalled;
      }
    }
  return all;
}

// All has come, and every sender knows that all is free: there is nothing left to ask.
void expect_all_arrived(Scenario& s) {
  for (const build::Flow& f : s.lab().flows()) EXPECT_EQ(f.received().packets, f.sent().packets) << f.plan.name;
}

TEST(CreditFlowControl, AnIncastLosesNothingAndPausesNobody) {
  Scenario s(kIncast);
  s.run_to_the_end();
  expect_all_arrived(s);
  const Sums all = sums(s);
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_EQ(all.xoffs, 0u);
  EXPECT_EQ(all.paused, 0_ns);
  EXPECT_GT(all.stalled, 500_us);
  EXPECT_EQ(all.messages, all.heard);
  for (const Link& link : s.lab().fabric().links())
    for (const auto& [end, credits] : {std::pair{link.a, &link.credits_at_a}, std::pair{link.b, &link.credits_at_b}})
      EXPECT_LE(s.lab().fabric()[end.device].counters().ports[end.port.index()].classes[3].max_ingress_cells,
                (*credits)->classes[3].cells);
  const report::Report report = s.report();
  EXPECT_THAT(report.text(), testing::HasSubstr("\nPorts that waited for credits, CBFC (12 port-classes, longest first)\n"));
  const nlohmann::json json = nlohmann::json::parse(report.json());
  EXPECT_NEAR(json["summary"]["stalled"].get<double>(), static_cast<double>(all.stalled.ps) / 1000, 20);
}

// Frames of 2558 octets take 5 cells of 512, with the tag that they leave with 6: memory and credits are for what came in.
TEST(CreditFlowControl, ATagThatIsPutOnTakesNoMoreThanTheCredits) {
  Scenario s(R"(
name: tags
switches: { default: { cell: 512B } }
qos: { default: { classes: { 3: { lossless: true, cbfc: { sync: 18us } } } } }
nodes:
  s1: { kind: switch, vlans: { 1: { native: 49, tagged: none }, 2: { native: 49, tagged: none } } }
  s2: { kind: switch, vlans: { 1: { native: 49, tagged: none } } }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
defaults: { link: { rate: 100Gbps, cable: 5m, mtu: 9216 } }
links: [[h1:1, s1:1], [h2:1, s1:2], [s1:3, s2:2], [h3:1, s2:1]]
traffic: [{ name: t, pattern: incast, from: [h1, h2], to: h3, fan-in: 2, dscp: 26, payload: 2496B }]
run: { duration: 1ms }
)");
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("h1:1", 3).stalled, 300_us);  // its credits were used up
}

TEST(CreditFlowControl, ASlowHostHoldsBackTheFabric) {
  Scenario s(kPair,
             {"qos.default.classes.3.cbfc=on", "hosts.slow={ receive: { rate: 40Gbps } }", "nodes.h2.profile=slow"});
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("leaf1:2", 3).stalled, 300_us);
  EXPECT_GT(s.at("h1:1", 3).stalled, 300_us);
  EXPECT_NEAR(static_cast<double>(s.flow("t/h1->h2").received().packets) * 4158 * 8 / 1e-3, 40e9, 2e9);
}

TEST(CreditFlowControl, AHostThatTakesNothingStopsTheFabricAndThatIsAll) {
  Scenario s(kPair, {"qos.default.classes.3.cbfc=on",
                     "faults=[{ name: f, on: h2, at: 100us, for: 400us, stop-receiving: true }]"});
  s.run_until(480_us);
  const std::uint64_t sent = s.flow("t/h1->h2").sent().packets;
  s.run_until(490_us);
  EXPECT_EQ(s.flow("t/h1->h2").sent().packets, sent);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  expect_all_arrived(s);
  EXPECT_GT(s.flow("t/h1->h2").sent().packets, sent + 1000);
}

TEST(CreditFlowControl, UpdatesThatAreLostAreMadeGoodByTheNextAndInTheEndByAQuestion) {
  Scenario s(kIncast, {"faults=[{ name: f, on: '*', lose-pause: true, probability: 50% }]",
                       "qos.default.classes.3.cbfc={ sync: 20us }"});
  s.run_to_the_end();
  EXPECT_GT(s.fault("f").frames, 1000u);
  expect_all_arrived(s);
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_LT(sums(s).heard, sums(s).messages);
}

TEST(CreditFlowControl, WhatLostFramesHadUsedComesBack) {
  for (const char* fault : {"loss: 5%", "bit-errors: 1e-5", "truncate: 100B, probability: 5%"}) {
    // Of 1 ms at 3 million frames a second, 150 are lost: many times what there are credits for.
    Scenario s(kPair, {"qos.default.classes.3.cbfc={ sync: 5us }",
                       std::string("faults=[{ name: f, on: leaf1:1, ") + fault + " }]"});
    s.run_to_the_end();
    EXPECT_GT(s.fault("f").frames, 100u) << fault;
    EXPECT_GT(s.flow("t/h1->h2").sent().packets, 2000u) << fault;
    EXPECT_EQ(s.drops(DropReason::kIngressFull), 0u) << fault;
  }
}

TEST(CreditFlowControl, FramesThatComeTwiceOrLateDoNotUpsetTheCounts) {
  for (const char* fault : {"duplicate: true, probability: 5%", "reorder: { behind: 3, within: 10us }, probability: 5%",
                            "delay: { time: 3us, jitter: 2us }"}) {
    Scenario s(kIncast, {std::string("faults=[{ name: f, on: '*', ") + fault + " }]"});
    s.run_to_the_end();
    EXPECT_GT(s.fault("f").frames, 100u) << fault;
    for (const build::Flow& f : s.lab().flows()) EXPECT_GE(f.received().packets, f.sent().packets) << fault;
    EXPECT_EQ(s.dropped(), 0u) << fault;
  }
}

const std::vector<std::string> kTrouble{
    "traffic=[{ name: in, pattern: incast, fan-in: 7, to: h1, dscp: 26, payload: 1024B },"
    "{ name: all, pattern: permutation, dscp: 26, payload: 256B, rate: 20Gbps }]",
    "faults=[{ name: cables, on: '*', bit-errors: 1e-6 }, { on: leaf1:9, flap: { down: 3us, up: 7us }, for: 250us },"
    "{ on: h6, flap: { down: 2us, up: 5us }, for: 250us }]",
    "qos.default.classes.3.cbfc={ sync: 10us }", "run.duration=300us"};

TEST(CreditFlowControl, LinksThatGoDownBeginAnew) {
  Scenario s(kIncast, kTrouble);
  for (int us = 1; us < 300; ++us) s.run_until(us * 1_us).expect_books_balance();
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kLinkDown), 0u);
  EXPECT_EQ(s.drops(DropReason::kIngressFull), 0u) << "nobody sends more than there is room for";
  // The way is free again.
  Scenario after(
      kPair, {"qos.default.classes.3.cbfc=on",
              "faults=[{ on: h1, at: 100us, down: true, for: 50us }, { on: h2, at: 300us, down: true, for: 50us }]"});
  after.run_until(900_us);
  const std::uint64_t before = after.flow("t/h1->h2").received().packets;
  after.run_until(1000_us);
  EXPECT_NEAR(static_cast<double>(after.flow("t/h1->h2").received().packets - before),
              100e-6 * 1e12 / static_cast<double>(kFrame.ps), 3);
}

TEST(CreditFlowControl, LinksThatRetryLoseNothingAndLeakNothing) {
  Scenario s(kIncast, {"defaults.link.llr=on", "faults=[{ name: f, on: '*', bit-errors: 1e-6 }]"});
  s.run_to_the_end();
  EXPECT_GT(s.fault("f").frames, 10u);
  EXPECT_EQ(s.dropped(), 0u);
  expect_all_arrived(s);
}

TEST(CreditFlowControl, CutThroughSwitchesHaveItToo) {
  Scenario s(kIncast, {"switches.default.mode=cut-through"});
  s.run_to_the_end();
  expect_all_arrived(s);
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(sums(s).stalled, 500_us);
}

// Between the switches frames have a tag, and 4098 octets: a cell more than without.
TEST(CreditFlowControl, TagsThatComeAndGoLeakNothing) {
  Scenario s(kPair, {"qos.default.classes.3.cbfc=on", "traffic.t.payload=4032B",
                     "nodes.leaf2={ kind: switch, vlans: { 1: { native: 10 }, 2: { native: 1, tagged: [10] } } }",
                     "nodes.leaf1.vlans={ 1: { native: 10 }, 3: { native: 1, tagged: [10] } }",
                     "links=[[h1:1, leaf1:1], [leaf1:3, leaf2:2], [leaf2:1, h2:1]]"});
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.flow("t/h1->h2").received().packets, 2900u);
}

TEST(CreditFlowControl, TheResultIsTheSameInAnyPortionsOfTimeAndOnAnyNumberOfWorkers) {
  const auto digest = [](EngineVariation variation, std::size_t workers) {
    EngineConfig config;
    config.workers = workers;
    config.digest = true;
    config.variation = variation;
    Scenario s(kIncast, kTrouble, config);
    s.run_to_the_end();
    return std::pair{s.digest(), sums(s).stalled};
  };
  const auto reference = digest({}, 1);
  EXPECT_EQ(digest({.shuffle = {}, .slices = {}, .window = 1_ps}, 1), reference);
  for (const std::size_t workers : {2u, 4u}) EXPECT_EQ(digest({}, workers), reference) << workers;
}

std::string refusal(const char* yaml, const std::vector<std::string>& sets) {
  try {
    Scenario s(yaml, sets);
  } catch (const spec::SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(CreditFlowControl, WhatCannotBeIsOneClearError) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal(kPair, {"qos.default.classes.3.cbfc.credits=4KB"}),
              HasSubstr("leaf1:1: credits of class 3 are 3840B, less than one frame of its link (4162B) plus the "
                        "update interval (256B); expected `credits: auto`, or at least 4608B"));
  EXPECT_THAT(refusal(kPair, {"qos.default.classes.3.cbfc=maybe"}), HasSubstr("expected off, on or a map"));
  EXPECT_THAT(refusal(kPair, {"qos.other={ classes: { 3: { lossless: true } } }", "hosts.default.qos=other"}),
              HasSubstr("class 3 has credits (cbfc) at leaf1 (QoS default) but not at h1 (QoS other)"));
  EXPECT_THAT(refusal(kPair, {"qos.default.classes.4={ cbfc: on }"}), HasSubstr("does not apply to a lossy class"));
  EXPECT_THAT(refusal(kPair, {"qos.default.classes.3.cbfc.credits=2MB"}), HasSubstr("receive buffer has 1MiB"));
  EXPECT_EQ(refusal(kPair, {"qos.default.classes.3.lossless=false"}), "") << "it rests";
}

}  // namespace
}  // namespace railyard::test
