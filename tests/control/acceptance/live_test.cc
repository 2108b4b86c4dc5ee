// What a running lab is asked to send, and what its counters and state say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/acceptance/item.h"
#include "control/acceptance/live/class_trace.h"
#include "control/acceptance/live/lab_state.h"
#include "control/acceptance/live/trains.h"
#include "control/spec/load.h"

namespace railyard::acceptance {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;
using testing::HasSubstr;

spec::Lab racks(const std::vector<std::string>& sets = {}) {
  return spec::parse("name: racks\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n",
                     "racks.yaml", sets);
}

Subject live_racks() { return live_subject_of(racks(), {}, {}); }

TEST(LiveTrains, EveryPairIsSentAloneAndLatencyHasTenThousandSamples) {
  const Subject s = live_racks();
  const auto alone = live::requests_of(s, ProbeKind::kPairsAlone);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].body["trains"].size(), 12u);
  std::int64_t last = -1;
  for (const json& t : alone[0].body["trains"]) {
    EXPECT_GT(t[2].get<std::int64_t>(), last) << "one after the other";
    last = t[2];
  }
  std::uint64_t frames = 0;
  for (const json& t : live::requests_of(s, ProbeKind::kIdleLatency).at(0).body["trains"])
    frames += t[3].get<std::uint64_t>();
  EXPECT_GE(frames, 10'000u);
  EXPECT_EQ(live::requests_of(s, ProbeKind::kPairsTogether).size(), 3u) << "a request for each round";
  EXPECT_TRUE(live::requests_of(s, ProbeKind::kAllReduce).empty());
}

TEST(LiveTrains, AttachedNicsAreNoneOfThem) {
  const Subject s = live_subject_of(racks({"run.clock=wall", "nodes.h1.attach=namespace"}), {}, {});
  EXPECT_EQ(s.nics.size(), 3u);
  EXPECT_EQ(s.pairs.size(), 6u);
}

// A request keeps within what the API takes.
TEST(LiveTrains, ManyPairsAreSeveralRequests) {
  const Subject s = live_subject_of(
      spec::parse("name: big\ntopology: { preset: leaf-spine, leaves: 4, spines: 4, hosts-per-leaf: 16 }\n",
                  "big.yaml"),
      {}, {});
  std::size_t pairs = 0;
  for (const live::Request& r : live::requests_of(s, ProbeKind::kPairsAlone)) {
    EXPECT_LT(r.body.dump().size(), 65'536u);
    EXPECT_EQ(r.body["trains"].size(), r.pairs.size());
    pairs += r.pairs.size();
  }
  EXPECT_EQ(pairs, 64u * 63u);
}

Json class_counter(int number, std::uint64_t packets) {
  return {{"class", number}, {"rx", {{"packets", packets}}}, {"ecn_marked", 0}, {"xoff_sent", 0},
          {"paused_ns", 0},  {"drops", Json::object()}};
}
Json port(const char* node, int number, std::vector<Json> classes, Json drops = Json::object()) {
  return {{"node", node},
          {"port", number},
          {"peer", "x:1"},
          {"lost_on_link", 0},
          {"drops", std::move(drops)},
          {"classes", std::move(classes)}};
}
// (Ports and classes as lists: one alone in braces would be itself.)
Json report(std::vector<Json> ports) { return {{"ports", std::move(ports)}, {"verdicts", Json::array()}}; }

TEST(LiveTrains, ResultsAreReadAsThoseOfARun) {
  const Subject s = live_racks();
  live::Request request{{}, {{0, 2}, {0, 3}}};
  const json latency{{"p50", 2000.5}, {"p99", 3000.0}, {"p999", 3500.0}, {"max", 4000.0}, {"samples", 128}};
  const auto train = [&](const char* to, std::uint64_t received, json bps) {
    return json{{"from", "h1:1"},
                {"to", to},
                {"sent", 64},
                {"received", received},
                {"lost", 64 - received},
                {"corrupted", 0},
                {"first_sent_ns", 1000},
                {"last_ns", 31'000},
                {"bps", std::move(bps)},
                {"latency_ns", latency}};
  };
  const std::vector<json> results{
      {{"latency_ns", latency}, {"trains", {train("h3:1", 64, 98e9), train("h4:1", 60, 90e9)}}}};
  const Json before = report({port("leaf1", 1, {class_counter(3, 0)})});
  const Json after = report({port("leaf1", 1, {class_counter(3, 128)}, {{"no_route", 4}})});
  Runs runs;
  runs[ProbeKind::kPairsAlone].report =
      live::report_of_trains(s, ProbeKind::kPairsAlone, {request}, results, before, after);
  const Finding f = judge(list::kBandwidthAlone, s, runs);
  EXPECT_EQ(f.answer, Answer::kFail);
  EXPECT_THAT(f.found, HasSubstr("1 of 2 below"));
  EXPECT_THAT(f.evidence.front(), HasSubstr("h1:1 -> h4:1: did not complete"));
  runs[ProbeKind::kSteady].report = runs[ProbeKind::kPairsTogether].report = runs[ProbeKind::kPairsAlone].report;
  const Finding loss = judge(list::kLoss, s, runs);
  EXPECT_EQ(loss.answer, Answer::kFail);
  EXPECT_THAT(loss.evidence, testing::Contains(HasSubstr("4 at leaf1:1 (no_route)")));
}

TEST(LiveCounters, ClassesThatTheLabItselfUsesSayNothing) {
  const Json between = live::ports_between(report({port("leaf1", 1, {class_counter(3, 10)})}),
                                           report({port("leaf1", 1, {class_counter(3, 15), class_counter(4, 2)})}));
  EXPECT_EQ(between[0]["classes"][0]["rx"]["packets"], 0);
  EXPECT_EQ(between[0]["classes"][0]["all_rx"], 5);
  EXPECT_EQ(between[0]["classes"][1]["rx"]["packets"], 2);
}

// h1 - leaf1 - spine1 - leaf2 - h3; spine1 has the packets in class 0.
TEST(ClassTrace, NamesTheFirstWrongHop) {
  const spec::Lab lab = racks();
  const auto counted = [&](int at_spine) {
    return live::ports_between(report({}), report({port("leaf1", 1, {class_counter(3, 20)}),
                                                              port("spine1", 1, {class_counter(at_spine, 20)}),
                                                              port("leaf2", 3, {class_counter(3, 20)})}));
  };
  const Json right = live::trace_classes(lab, {"h1", 1}, {"h3", 1}, 26, 20, counted(3));
  EXPECT_EQ(right["hops"], 3);
  EXPECT_TRUE(right["wrong"].is_null()) << right;
  const Json wrong = live::trace_classes(lab, {"h1", 1}, {"h3", 1}, 26, 20, counted(0));
  EXPECT_THAT(wrong["wrong"].get<std::string>(), HasSubstr("spine1:1 expects class 3 and counted them in class 0"));
}

live::LabState state() {
  return {.pid = 7,
          .spec = "a: 1\nb: 2\n",
          .links = {{"leaf1:1", true}},
          .faults = {{"f", "loss on leaf1:1"}},
          .traffic = {{"t", false}}};
}

TEST(LabState, TheFirstChangeIsNamed) {
  EXPECT_EQ(live::change(state(), state()), "");
  live::LabState s = state();
  s.links["leaf1:1"] = false;
  EXPECT_EQ(live::change(state(), s), "link leaf1:1 went down");
  s = state();
  s.faults["g"] = "drop on leaf1:2";
  EXPECT_EQ(live::change(state(), s), "fault 'g' was added: drop on leaf1:2");
  s = state();
  s.faults.clear();
  EXPECT_EQ(live::change(state(), s), "fault 'f' was removed: loss on leaf1:1");
  s = state();
  s.traffic["t"] = true;
  EXPECT_EQ(live::change(state(), s), "traffic 't' was stopped");
  s = state();
  s.spec = "a: 1\nb: 3\n";
  EXPECT_EQ(live::change(state(), s), "a setting was changed: line 2 of its expanded file was 'b: 2', and is 'b: 3'");
  s = state();
  s.pid = 8;
  EXPECT_THAT(live::change(state(), s), HasSubstr("PID 8"));
}

TEST(LiveItems, WhatDoesNotApplySaysWhy) {
  Runs runs;
  runs[ProbeKind::kHostMtu].not_run = "not applicable: no ping";
  const Finding f = judge(list::kHostMtu, live_racks(), runs);
  EXPECT_EQ(f.answer, Answer::kNotRun);
  EXPECT_EQ(f.found, "not applicable: no ping");
}

TEST(LiveItems, AHostThatDoesNotPassItsMtuIsNamed) {
  Runs runs;
  runs[ProbeKind::kHostMtu].report["pairs"] = {
      {{"from", "h1:1"}, {"to", "h2:1"}, {"mtu", 9000}, {"answered", true}, {"why", ""}},
      {{"from", "h2:1"}, {"to", "h1:1"}, {"mtu", 9000}, {"answered", false}, {"why", "no answer"}}};
  const Finding f = judge(list::kHostMtu, live_racks(), runs);
  EXPECT_EQ(f.answer, Answer::kFail);
  EXPECT_THAT(f.evidence.front(), HasSubstr("h2:1 -> h1:1: 9000 bytes: no answer"));
}

TEST(LiveItems, ALibfabricProgramThatDoesNotCompleteIsNamed) {
  Runs runs;
  runs[ProbeKind::kHostLibfabric].report = {
      {"tool", "fi_pingpong"},
      {"pairs",
       {{{"from", "h1:1"}, {"to", "h2:1"}, {"bps", 8e8}, {"why", ""}},
        {{"from", "h2:1"}, {"to", "h1:1"}, {"bps", nullptr}, {"why", "fi_connect: no route"}}}}};
  const Finding f = judge(list::kHostLibfabric, live_racks(), runs);
  EXPECT_EQ(f.answer, Answer::kFail);
  EXPECT_THAT(f.evidence.front(), HasSubstr("h2:1 -> h1:1: fi_connect: no route"));
  runs[ProbeKind::kHostLibfabric].report["pairs"].erase(1);
  EXPECT_EQ(judge(list::kHostLibfabric, live_racks(), runs).answer, Answer::kPass);
}

}  // namespace
}  // namespace railyard::acceptance
