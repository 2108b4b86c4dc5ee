// Link-level retry: what bit errors cost when the link makes them good.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/spec/spec_error.h"
#include "tests/scenarios/fault_scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

LinkRetryCounters retried(Scenario& s) {
  LinkRetryCounters all;
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports) all.add(p.llr);
  return all;
}

//   h1 - leaf1:1   leaf1:2 - h2   100 Gb/s; h1 sends frames of 318 octets at 40 Gb/s, one every 67.6 ns.
TEST(LinkRetry, BitErrorsLoseNothing) {
  Scenario s = fault_scenario("llr");
  s.run_to_the_end();
  const auto& flow = s.flow("t/h1->h2");
  EXPECT_EQ(flow.received().packets, flow.sent().packets);
  EXPECT_EQ(flow.received().reordered, 0u);
  EXPECT_EQ(s.dropped(), 0u);
  const auto sent = static_cast<double>(flow.sent().packets);
  const double p = 1 - std::pow(1 - 1e-6, 318 * 8);
  const LinkRetryCounters llr = s.port("h1:1").llr;
  EXPECT_NEAR(static_cast<double>(llr.replays), sent * p, 5 * std::sqrt(sent * p));
  EXPECT_EQ(llr.replays, s.fault("bad-cable").frames);
  // The frame with its preamble and an ordered set, 334 octets; 3 m twice; the turnaround.
  EXPECT_EQ(llr.least_late, 26'720_ps + 2 * 15_ns + 200_ns);
  EXPECT_LT(llr.most_late, 1_us);
  EXPECT_EQ(retried(s).replays, llr.replays) << "at that end of that link, and nowhere else";
  const report::Report report = s.report();
  EXPECT_THAT(report.text(), testing::HasSubstr("Link-level retry (LLR): "));
  const nlohmann::json json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["summary"]["llr_replays"], llr.replays);
  EXPECT_EQ(json["summary"]["llr_latency_mean"], 256) << "ns";
  for (const auto& port : json["ports"]) {
    const nlohmann::json& late = port["llr"]["latency_ns"];
    if (port["node"] == "h1")
      EXPECT_EQ(late["min"], 256);
    else
      EXPECT_TRUE(late.is_null()) << port["node"] << " repeated nothing";
  }
  s.expect_books_balance();
}

TEST(LinkRetry, WhatTakesFramesWithoutAWrongFcsIsNotMended) {
  for (const char* fault : {"loss: 1%", "corrupt: true, probability: 1%"}) {
    Scenario s = fault_scenario("llr", {std::string("faults=[{ name: f, on: h1, ") + fault + " }]"});
    s.run_to_the_end();
    EXPECT_GT(s.fault("f").frames, 100u) << fault;
    EXPECT_EQ(s.flow("t/h1->h2").sent().packets - s.flow("t/h1->h2").received().packets, s.fault("f").frames) << fault;
    EXPECT_EQ(retried(s).replays, 0u) << fault;
  }
}

TEST(LinkRetry, ALinkWithoutItDropsAsBefore) {
  Scenario s = fault_scenario("llr", {"topology.host-link.llr=off"});
  s.run_to_the_end();
  EXPECT_FALSE(s.port("h1:1").llr.on);
  EXPECT_EQ(s.drops(DropReason::kFcsError), s.fault("bad-cable").frames);
}

TEST(LinkRetry, AFaultThatIsTakenAwayHitsNothingMore) {
  Scenario s = fault_scenario("llr", {"faults=[]"});
  s.run_until(1_ms);
  s.add_fault_at(1_ms, "name: late, on: h1, bit-errors: 1e-5");
  s.run_until(2_ms);
  const std::uint64_t by_then = s.port("h1:1").llr.replays;
  EXPECT_GT(by_then, 100u);
  s.remove_fault_at(2_ms, "late");
  s.run_to_the_end();
  EXPECT_LE(s.port("h1:1").llr.replays, by_then + 1);
  EXPECT_EQ(s.dropped(), 0u);
  s.expect_books_balance();
}

// Pauses are MAC control, which the cable hits as well; a frame that waits for its replay when the link goes down is
// lost as all that waits there.
constexpr const char* kTrouble = R"(
name: trouble
switches: { default: { buffer: 2MiB } }
hosts: { default: {}, slow: { receive: { rate: 40Gbps } } }
qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, path: { policy: adaptive, global: true } } } } }
defaults: { link: { llr: { turnaround: 300ns } } }
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }
nodes: { h1: { kind: host, profile: slow } }
traffic:
  - { name: in, pattern: incast, fan-in: 7, to: h1, dscp: 26, payload: 1024B }
  - { name: all, pattern: permutation, dscp: 26, payload: 256B, rate: 20Gbps }
faults:
  - { name: cables, on: "leaf*", bit-errors: 2e-5 }
  - { name: short, on: "h3 out", truncate: 300B, probability: 2% }
  - { name: again, on: leaf2:2, when: "queue leaf1:1/3 depth > 50KB", for: 20us, bit-errors: 1e-3 }
run: { duration: 300us }
)";

TEST(LinkRetry, ALosslessFabricStaysLossless) {
  Scenario s(kTrouble);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  std::uint64_t xoffs = 0;
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports)
      for (const ClassCounters& c : p.classes) xoffs += c.xoff_received;
  EXPECT_GT(xoffs, 20u);
  EXPECT_GT(retried(s).frames, 500u);
  EXPECT_GT(retried(s).replays, retried(s).frames) << "some more than once";
  EXPECT_GT(s.fault("again").frames, 0u);
  EXPECT_GT(s.fault("short").frames, 0u);
  for (const auto& [name, flow] : {std::pair{"in", "in/h5->h1"}, {"in", "in/h2->h1"}})
    EXPECT_EQ(s.flow(flow).received().packets, s.flow(flow).sent().packets) << name;
  s.expect_books_balance();
}

const std::vector<std::string> kFlaps{
    "faults=[{ name: cables, on: '*', bit-errors: 1e-4 }, { on: leaf1:5, flap: { down: 3us, up: 7us }, for: 250us },"
    "{ on: h6, flap: { down: 2us, up: 5us }, for: 250us }]"};

TEST(LinkRetry, LinksThatGoDownLoseAsBefore) {
  Scenario s(kTrouble, kFlaps);
  for (int us = 1; us < 300; ++us) s.run_until(us * 1_us).expect_books_balance();
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kLinkDown), 0u);
  EXPECT_EQ(s.drops(DropReason::kFcsError), 0u);
  EXPECT_GT(retried(s).replays, 1000u);
  s.expect_books_balance();
}

TEST(LinkRetry, AFrameThatNeverCameThroughWasDroppedWhereItWaited) {
  Scenario s(kTrouble, kFlaps);
  std::vector<std::unique_ptr<IntSource>> sources;
  for (const auto& d : s.lab().fabric().devices()) {
    sources.push_back(s.lab().is_switch(d->id()) ? nullptr : std::make_unique<IntSource>(1 << 15));
    if (sources.back() != nullptr) sources.back()->begin(Seed{1}, {.one_in = 1});
    d->record_int(true, sources.back().get());
  }
  s.run_to_the_end();
  std::uint64_t dropped = 0;
  for (const auto& source : sources)
    if (source != nullptr)
      source->take_ended([&](const IntStack& stack) {
        if (stack.ended() != IntStack::End::kDropped) return;
        EXPECT_EQ(stack.hops().back().dropped, DropReason::kLinkDown);
        EXPECT_EQ(stack.hops().back().egress, Instant::never());
        ++dropped;
      });
  EXPECT_EQ(dropped, s.drops(DropReason::kLinkDown));
  for (const auto& d : s.lab().fabric().devices()) d->record_int(false, nullptr);
}

TEST(LinkRetry, TheResultIsTheSameInAnyPortionsOfTimeAndOnAnyNumberOfWorkers) {
  const auto digest = [](EngineVariation variation, std::size_t workers) {
    EngineConfig config;
    config.workers = workers;
    config.digest = true;
    config.variation = variation;
    Scenario s(kTrouble, {}, config);
    s.run_to_the_end();
    return std::pair{s.digest(), retried(s).late};
  };
  const auto reference = digest({}, 1);
  EXPECT_EQ(digest({.shuffle = {}, .slices = {}, .window = 1_ps}, 1), reference);
  for (const std::size_t workers : {2u, 4u}) EXPECT_EQ(digest({}, workers), reference) << workers;
}

std::string refusal(const std::vector<std::string>& sets) {
  try {
    Scenario s(kTrouble, sets);
  } catch (const spec::SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(LinkRetry, WhatCutsThroughCannotTakeAFrameBack) {
  EXPECT_THAT(refusal({"switches.default.mode=cut-through"}),
              testing::HasSubstr("uses cut-through and forwards unverified frames"));
  EXPECT_EQ(refusal({"switches.default.mode=cut-through", "defaults.link.llr=off"}), "");
}

}  // namespace
}  // namespace railyard::test
