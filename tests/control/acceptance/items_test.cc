#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/acceptance/item.h"
#include "control/acceptance/table.h"
#include "control/spec/load.h"

namespace railyard::acceptance {
namespace {

using testing::HasSubstr;

Subject pair_of_hosts() {
  return subject_of(spec::parse("name: pair\ndefaults: { link: { rate: 100Gbps } }\n"
                                "topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 2 }\n",
                                "pair.yaml"),
                    {}, {});
}

nlohmann::ordered_json flow(const char* from, const char* to, double bps) {
  nlohmann::ordered_json f{
      {"src", from}, {"dst", to}, {"limit_bps", 98e9}, {"goodput_bps", bps}, {"latency_ns", {{"p50", 2000}}}};
  f["fct_ns"] = bps > 0 ? nlohmann::ordered_json(1000) : nlohmann::ordered_json(nullptr);
  return f;
}

TEST(Items, APairBelowTheThresholdFailsAndIsNamed) {
  const Subject s = pair_of_hosts();
  Runs runs;
  runs[ProbeKind::kPairsAlone].report["flows"] = {flow("h1:1", "h2:1", 97e9), flow("h2:1", "h1:1", 89.9e9)};
  const Finding f = judge(list::kBandwidthAlone, s, runs);
  EXPECT_EQ(f.answer, Answer::kFail);
  EXPECT_THAT(f.found, HasSubstr("1 of 2 below; worst 89.9 Gb/s (89.9 %)"));
  EXPECT_THAT(f.evidence.front(), HasSubstr("h2:1 -> h1:1"));
  runs[ProbeKind::kPairsAlone].report["flows"][1] = flow("h2:1", "h1:1", 90e9);
  EXPECT_EQ(judge(list::kBandwidthAlone, s, runs).answer, Answer::kPass);
}

// Reports call the only NIC of a host by its name.
TEST(Items, PairsOfHostsWithOneNicAreFound) {
  Runs runs;
  runs[ProbeKind::kPairsAlone].report["flows"] = nlohmann::ordered_json::array({flow("h1", "h2", 97e9)});
  EXPECT_EQ(judge(list::kBandwidthAlone, pair_of_hosts(), runs).answer, Answer::kPass);
}

TEST(Items, WithoutAPairNothingPasses) {
  Runs runs;
  runs[ProbeKind::kPairsAlone].report["flows"] = nlohmann::ordered_json::array();
  EXPECT_EQ(judge(list::kBandwidthAlone, pair_of_hosts(), runs).answer, Answer::kFail);
}

TEST(Items, APairThatDoesNotCompleteFails) {
  Runs runs;
  runs[ProbeKind::kPairsAlone].report["flows"] = nlohmann::ordered_json::array({flow("h1:1", "h2:1", 0)});
  const Finding f = judge(list::kBandwidthAlone, pair_of_hosts(), runs);
  EXPECT_EQ(f.answer, Answer::kFail);
  EXPECT_THAT(f.found, HasSubstr("did not complete"));
}

TEST(Items, WhatWasNotMeasuredIsNotPassed) {
  Runs runs;
  const Finding none = judge(list::kFailover, pair_of_hosts(), runs);
  EXPECT_EQ(none.answer, Answer::kNotRun);
  EXPECT_THAT(none.found, HasSubstr("without dividing the hosts"));
  runs[ProbeKind::kPairsAlone].failure = "no memory";
  const Finding f = judge(list::kMtu, pair_of_hosts(), runs);
  EXPECT_EQ(f.answer, Answer::kBroken);
  EXPECT_THAT(f.found, HasSubstr("no memory"));
}

// A report of an incast of two: what one switch port marked and paused, and the verdict that follows.
nlohmann::ordered_json incast(const char* verdict, int marked, int xoff) {
  nlohmann::ordered_json report;
  report["flows"] = {flow("h1:1", "h3:1", 40e9), flow("h2:1", "h3:1", 40e9)};
  report["ports"] = {{{"node", "leaf1"},
                      {"port", 3},
                      {"classes", {{{"class", 3}, {"ecn_marked", marked}, {"xoff_sent", xoff}, {"max_depth_bytes", 91'000}}}}}};
  report["verdicts"] = {{{"name", "ce-before-xoff"}, {"verdict", verdict}, {"text", "2 of 2 congested queues marked CE before XOFF"}}};
  return report;
}

// Nothing marked and nothing paused: which comes first is not known.
TEST(Items, AnIncastThatMarksNothingShowsNothing) {
  Runs runs;
  runs[ProbeKind::kIncast].report = incast("pass", 0, 0);
  const Finding f = judge(list::kEcnBeforePfc, pair_of_hosts(), runs);
  EXPECT_EQ(f.answer, Answer::kReport);
  EXPECT_THAT(f.found, HasSubstr("not shown: the 2:1 incast into h3:1 marked nothing and paused nothing; deepest queue 91 KB"));
  runs[ProbeKind::kIncast].report = incast("pass", 0, 7);
  EXPECT_EQ(judge(list::kEcnBeforePfc, pair_of_hosts(), runs).answer, Answer::kReport);
}

TEST(Items, MarksWithoutAPauseAndMarksBeforeOnePass) {
  Runs runs;
  runs[ProbeKind::kIncast].report = incast("pass", 1'234, 0);
  const Finding alone = judge(list::kEcnBeforePfc, pair_of_hosts(), runs);
  EXPECT_EQ(alone.answer, Answer::kPass);
  EXPECT_THAT(alone.found, HasSubstr("1,234 packets marked CE, no pause"));
  runs[ProbeKind::kIncast].report = incast("pass", 1'234, 7);
  EXPECT_EQ(judge(list::kEcnBeforePfc, pair_of_hosts(), runs).answer, Answer::kPass);
  runs[ProbeKind::kIncast].report = incast("fail", 1'234, 7);
  EXPECT_EQ(judge(list::kEcnBeforePfc, pair_of_hosts(), runs).answer, Answer::kFail);
}

// One message whose time is `ms`; tables changed `repaired_us` after the failure.
nlohmann::ordered_json failing(double ms, const Subject& s, int repaired_us, int lost = 3) {
  nlohmann::ordered_json report;
  report["drops"] = report["ports"] = report["collectives"] = nlohmann::ordered_json::array();
  report["traffic"] = {{{"name", "t"}, {"with_end", 1}}};
  report["flows"] = {{{"name", "t/h1->h3"}, {"lost", lost}, {"start_ns", 0}, {"fct_ns", ms * 1e6}, {"delivered_bytes", 1000}}};
  report["faults"] = {{{"on", "leaf1:3-spine1:1"}}};
  const std::int64_t at = failure_at(s).ps / 1000;
  report["reroutings"] = {{{"began_ns", at}, {"first_change_ns", at + 10}, {"last_change_ns", at + repaired_us * 1000}}};
  return report;
}

TEST(Items, AFailoverThatTakesLongWarns) {
  const Subject s = subject_of(spec::parse("name: clos\ndefaults: { link: { rate: 100Gbps } }\n"
                                           "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n",
                                           "clos.yaml"),
                               {}, {});
  Runs runs;
  runs[ProbeKind::kWithoutFailure].report = failing(5, s, 1, 0);
  runs[ProbeKind::kFailover].report = failing(6, s, 100);
  EXPECT_EQ(judge(list::kFailover, s, runs).answer, Answer::kPass);
  runs[ProbeKind::kFailover].report = failing(50, s, 100);
  const Finding f = judge(list::kFailover, s, runs);
  EXPECT_EQ(f.answer, Answer::kWarn) << "ten times the time";
  EXPECT_THAT(f.found, HasSubstr("50 ms instead of 5 ms, 10.00 times"));
  EXPECT_THAT(f.threshold, HasSubstr(fmt::format("in {:.2f} times", std::min(1.15 * (1 + static_cast<double>(failure_lasts(s).ps) / 5e9), 3.0))));
  EXPECT_THAT(f.remedy, HasSubstr("Routes were repaired long before"));
}

TEST(Items, ALinkThatNobodyUsesShowsNothing) {
  const Subject s = pair_of_hosts();
  Runs runs;
  runs[ProbeKind::kWithoutFailure].report = failing(5, s, 1);
  runs[ProbeKind::kFailover].report = failing(5, s, 100);
  for (const ProbeKind kind : {ProbeKind::kWithoutFailure, ProbeKind::kFailover}) {
    runs[kind].report["flows"][0]["lost"] = 0;
    runs[kind].report["drops"] = nlohmann::ordered_json::array();
  }
  const Finding f = judge(list::kFailover, s, runs);
  EXPECT_EQ(f.answer, Answer::kReport);
  EXPECT_THAT(f.found, HasSubstr("no flow used leaf1:3-spine1:1"));
}

TEST(Items, TheScaleIsThatOfTheLab) {
  Subject s = pair_of_hosts();
  EXPECT_EQ(judge(list::kScale, s, {}).answer, Answer::kReport);
  s.settings.planned_gpus = 1024;
  const Finding f = judge(list::kScale, s, {});
  EXPECT_EQ(f.answer, Answer::kWarn);
  EXPECT_THAT(f.found, HasSubstr("0.2 % of what is planned"));
}

TEST(Items, AnUnknownLineIsAnErrorThatNamesAll) {
  EXPECT_THAT([] { items({"bandwith"}); },
              testing::ThrowsMessage<std::invalid_argument>(HasSubstr("bandwidth-alone, bandwidth-together")));
}

TEST(Items, OneFailingLineFailsTheList) {
  Result r{.file = "a.yaml", .name = "a", .transport = "RoCEv2"};
  r.lines.push_back({&list::kMtu, {.answer = Answer::kPass}});
  r.lines.push_back({&list::kRacks, {.answer = Answer::kWarn, .remedy = "Place ranks."}});
  EXPECT_EQ(r.answer(), Answer::kWarn);
  r.lines.push_back({&list::kLoss, {.answer = Answer::kFail, .found = "3 packets lost"}});
  EXPECT_EQ(r.answer(), Answer::kFail);
  EXPECT_THAT(text(r), HasSubstr("3 lines: 1 pass, 1 warn, 1 FAIL. Result: FAIL"));
  EXPECT_EQ(json(r)["lines"][2]["answer"], "fail");
  EXPECT_EQ(junit(r).cases[2].result, report::JunitCase::Result::kFailed);
}

}  // namespace
}  // namespace railyard::acceptance
