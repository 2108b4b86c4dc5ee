#include <stdexcept>

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
