// KPIs from reports that are made by hand.
#include "control/bench/kpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::bench {
namespace {

using Json = nlohmann::ordered_json;

Kpi function(const char* name, const char* of = "", const char* at = "") {
  Kpi k;
  k.name = name;
  k.function = name;
  k.of = of;
  k.at = at;
  return k;
}

// An all-reduce of 1,000 bytes with factor 1.5: 12,000 bits on the wire of each rank.
Json collective(const std::vector<double>& times_ns) {
  Json iterations = Json::array();
  double start = 0;
  for (const double t : times_ns) {
    iterations.push_back({{"start_ns", start}, {"time_ns", t}});
    start += t;
  }
  return {{"collectives",
           {{{"bytes", 1000},
             {"busbw_factor", 1.5},
             {"iterations", iterations},
             {"job", nullptr},
             {"ecn_marked", 5},
             {"packets", 100}}}}};
}

TEST(Kpi, AFigureIsTheMeanOfTheTrialsInItsUnit) {
  Kpi k;
  k.figure = "goodput";
  k.scale = 1e-9;
  const Value v = evaluate(k, {{1, {{"summary", {{"goodput", 90e9}}}}}, {2, {{"summary", {{"goodput", 100e9}}}}}}, 0);
  EXPECT_DOUBLE_EQ(*v.value, 95);
  EXPECT_DOUBLE_EQ(v.min(), 90);
  EXPECT_DOUBLE_EQ(v.max(), 100);
  EXPECT_FALSE(v.pooled);
}

TEST(Kpi, TheCoefficientOfVariationTakesTheStandardDeviationOfASample) {
  Value v;
  v.by_trial = {8, 10, 12};
  EXPECT_DOUBLE_EQ(*v.cv(), 0.2);
  v.by_trial = {10};
  EXPECT_FALSE(v.cv()) << "one trial has no spread";
  v.by_trial = {0, 0};
  EXPECT_FALSE(v.cv()) << "nothing to divide by";
}

TEST(Kpi, ATrialWithoutTheFigureIsLeftOut) {
  Kpi k;
  k.figure = "goodput";
  const Value v = evaluate(k, {{1, {{"summary", Json::object()}}}, {2, {{"summary", {{"goodput", 7}}}}}}, 0);
  EXPECT_EQ(v.by_trial.size(), 1u);
  EXPECT_DOUBLE_EQ(*v.value, 7);
  EXPECT_FALSE(evaluate(k, {{1, {{"summary", Json::object()}}}}, 0).value);
}

TEST(Kpi, BusBwLeavesOutTheFirstIterationAndTakesPercentilesOfTimes) {
  const std::vector<Trial> trials{{1, collective({9000, 1000, 2000, 3000})}};
  EXPECT_DOUBLE_EQ(*evaluate(function("busbw", "", "mean"), trials, 0).value, 12000 / 2000.0 * 1e9);
  EXPECT_DOUBLE_EQ(*evaluate(function("busbw", "", "p99"), trials, 0).value, 12000 / 3000.0 * 1e9) << "the slow end";
  EXPECT_DOUBLE_EQ(*evaluate(function("busbw-efficiency", "", "mean"), trials, 12e9).value, 0.5);
}

TEST(Kpi, TheJctRatioIsOneOnAPerfectNetwork) {
  // 12,000 bits at 12 Gb/s: 1,000 ns.
  std::vector<Trial> trials{{1, collective({1000, 1000, 1000})}};
  EXPECT_DOUBLE_EQ(*evaluate(function("jct-ratio"), trials, 12e9).value, 1);
  trials[0].report["collectives"][0]["job"] = {{"compute_ns", 1000}};
  trials[0].report["collectives"][0]["iterations"] = collective({2200, 2200})["collectives"][0]["iterations"];
  EXPECT_DOUBLE_EQ(*evaluate(function("jct-ratio"), trials, 12e9).value, 1.1);
}

TEST(Kpi, PercentilesAreOfTheSamplesOfAllTrialsTogether) {
  const auto trial = [](std::uint64_t seed, double samples, double from, double to) {
    return Trial{
        seed,
        {{"traffic", {{{"latency_ns", {{"samples", samples}, {"points", {{0, from}, {0.5, from + 10}, {1, to}}}}}}}}}};
  };
  // 99 of 100 samples are in the first trial: what the second one has is the tail.
  const std::vector<Trial> trials{trial(1, 9900, 100, 120), trial(2, 100, 1000, 1020)};
  const char* const of = "/traffic/0/latency_ns";
  EXPECT_DOUBLE_EQ(*evaluate(function("pooled", of, "samples"), trials, 0).value, 10000);
  EXPECT_DOUBLE_EQ(*evaluate(function("pooled", of, "min"), trials, 0).value, 100);
  EXPECT_DOUBLE_EQ(*evaluate(function("pooled", of, "p50"), trials, 0).value, 120) << "no mean of the two medians";
  EXPECT_DOUBLE_EQ(*evaluate(function("pooled", of, "p999"), trials, 0).value, 1020);
  EXPECT_DOUBLE_EQ(*evaluate(function("pooled", of, "max"), trials, 0).value, 1020);
  const Value mean = evaluate(function("pooled", of, "mean"), trials, 0);
  EXPECT_NEAR(*mean.value, 0.99 * 110 + 0.01 * 1010, 1e-9);
  EXPECT_TRUE(mean.pooled);
  EXPECT_EQ(mean.samples, 10000u);
}

TEST(Kpi, TheIterationOfAFailureIsComparedWithThoseBeforeIt) {
  Json report = collective({1000, 1000, 1200, 5000, 1000});
  report["reroutings"] = {{{"began_ns", 4000},
                           {"last_change_ns", 4500},
                           {"last_lost_ns", 4300},
                           {"first_lost_ns", 4100},
                           {"lost_packets", 9}}};
  const std::vector<Trial> trials{{1, report}};
  EXPECT_DOUBLE_EQ(*evaluate(function("failure-overhead"), trials, 0).value, 5000 - 1100);
  EXPECT_DOUBLE_EQ(*evaluate(function("zero-impact"), trials, 0).value, 0);
  EXPECT_DOUBLE_EQ(*evaluate(function("loss-duration"), trials, 0).value, 200);
  EXPECT_DOUBLE_EQ(*evaluate(function("packets-lost"), trials, 0).value, 9);
  EXPECT_DOUBLE_EQ(*evaluate(function("route-convergence"), trials, 0).value, 500);
  EXPECT_FALSE(evaluate(function("failure-overhead"), {{1, collective({1000, 1000})}}, 0).value) << "nothing failed";
}

// Five iterations: the failure at 4,100 ns is in the fourth, which takes 5,000 ns; the fabric stays slower.
Json failed(double began_ns) {
  Json report = collective({1000, 1000, 1200, 5000, 1600, 1500, 1500, 1500});
  report["reroutings"] = {{{"began_ns", began_ns},
                           {"last_change_ns", began_ns + 500},
                           {"last_lost_ns", nullptr},
                           {"first_lost_ns", nullptr},
                           {"lost_packets", 5}}};
  return report;
}

TEST(Kpi, RecoveryIsTheEndOfTheLastIterationAboveTheNewMean) {
  EXPECT_DOUBLE_EQ(*evaluate(function("recovery-time"), {{1, failed(4100)}}, 0).value, 8200 - 4100);
  Json at_once = failed(4100);
  at_once["collectives"][0]["iterations"][3]["time_ns"] = 1600;
  EXPECT_DOUBLE_EQ(*evaluate(function("recovery-time"), {{1, at_once}}, 0).value, 0) << "within 10 % of the new mean";
}

TEST(Kpi, TheFailureHasAPhase) {
  // 900 ns after the start of the fourth iteration; those before it take 1,100 ns in the mean.
  EXPECT_DOUBLE_EQ(*evaluate(function("failure-phase"), {{1, failed(4100)}}, 0).value, 900.0 / 1100);
}

TEST(Kpi, AFailureBetweenIterationsIsOfTheNextOne) {
  Json report = failed(3150);
  for (std::size_t i = 3; i < 8; ++i) {
    auto& start = report["collectives"][0]["iterations"][i]["start_ns"];
    start = start.get<double>() + 1000;  // a gap from 3,200 to 4,200 ns
  }
  report["reroutings"][0]["began_ns"] = 3300;
  report["reroutings"][0]["last_change_ns"] = 3400;
  EXPECT_DOUBLE_EQ(*evaluate(function("failure-overhead"), {{1, report}}, 0).value, 5000 - 1100);
}

TEST(Kpi, LossesCountAsTimeAtTheRateOfTheCollective) {
  // 100 packets in 8 iterations; an iteration before the failure takes 1,100 ns.
  EXPECT_DOUBLE_EQ(*evaluate(function("loss-by-rate"), {{1, failed(4100)}}, 0).value, 5 / 12.5 * 1100);
}

TEST(Kpi, AKpiMayBeOfANamedCollective) {
  Json report = collective({9000, 1000, 1000});
  Json other = collective({9000, 3000, 3000})["collectives"][0];
  report["collectives"][0]["name"] = "A";
  other["name"] = "B";
  report["collectives"].push_back(other);
  EXPECT_DOUBLE_EQ(*evaluate(function("iteration-time", "B", "mean"), {{1, report}}, 0).value, 3000);
  EXPECT_DOUBLE_EQ(*evaluate(function("iteration-time", "", "mean"), {{1, report}}, 0).value, 1000) << "the first one";
  EXPECT_FALSE(evaluate(function("iteration-time", "C", "mean"), {{1, report}}, 0).value);
}

TEST(Kpi, ConnectionsAreSetUpWhenTheirFirstPacketArrives) {
  Json report;
  report["flows"] = Json::array();
  report["flows"].push_back({{"start_ns", 0}, {"first_packet_ns", 1000}, {"handshake_ns", nullptr}});
  report["flows"].push_back({{"start_ns", 0}, {"first_packet_ns", 1000}, {"handshake_ns", 3000}});
  report["flows"].push_back({{"start_ns", 0}, {"first_packet_ns", nullptr}, {"handshake_ns", nullptr}});
  const std::vector<Trial> trials{{1, report}};
  EXPECT_DOUBLE_EQ(*evaluate(function("setup-rate"), trials, 0).value, 2 / 4000e-9);
  EXPECT_DOUBLE_EQ(*evaluate(function("first-byte", "", "p50"), trials, 0).value, 1000);
  EXPECT_DOUBLE_EQ(*evaluate(function("first-byte", "", "max"), trials, 0).value, 4000) << "with its handshake";
}

TEST(Kpi, SharedLinksAreThoseBetweenSwitchesThatCarryBothClasses) {
  const auto port = [](const char* node, const char* peer, int a, int b) {
    Json p{{"node", node}, {"peer", peer}, {"classes", Json::array()}};
    p["classes"].push_back({{"class", 3}, {"tx", {{"packets", a}}}});
    p["classes"].push_back({{"class", 4}, {"tx", {{"packets", b}}}});
    return p;
  };
  Json report;
  report["collectives"] = Json::array({{{"name", "A"}, {"ranks", {"h1", "h2:1"}}}});
  report["ports"] = {port("leaf1", "h1:1", 9, 9), port("h2", "leaf1:2", 9, 9), port("leaf1", "spine1:1", 5, 5),
                     port("leaf1", "spine2:1", 5, 0), port("spine1", "leaf1:3", 5, 0), port("spine2", "leaf1:4", 5, 0),
                     port("leaf2", "spine1:2", 0, 5)};
  EXPECT_DOUBLE_EQ(*evaluate(function("shared-links", "3,4"), {{1, report}}, 0).value, 0.25);
  EXPECT_FALSE(evaluate(function("shared-links", "3,5"), {{1, report}}, 0).value) << "nobody uses class 5";
}

TEST(Kpi, MemoryGrowsByTheSlopeOfTheSecondHalf) {
  Json report;
  // 100 samples in 99 s: memory fills up to 50 s, then grows by 1,000 bytes a second.
  for (int i = 0; i < 100; ++i)
    report["engine"]["memory"].push_back({{"wall_seconds", i},
                                          {"rss_bytes", i < 49 ? 1'000'000 * i : 49'000'000 + 1000 * i},
                                          {"open_files", i < 50 ? 5 : 7}});
  const std::vector<Trial> trials{{1, report}};
  EXPECT_NEAR(*evaluate(function("memory-slope"), trials, 0).value, 3'600'000, 1);
  EXPECT_NEAR(*evaluate(function("memory-margin"), trials, 0).value, 0, 1);
  EXPECT_DOUBLE_EQ(*evaluate(function("memory", "", "0"), trials, 0).value, 0);
  EXPECT_DOUBLE_EQ(*evaluate(function("memory", "", "6/24"), trials, 0).value, 25'000'000);
  EXPECT_DOUBLE_EQ(*evaluate(function("open-files"), trials, 0).value, 2);
  EXPECT_FALSE(evaluate(function("memory-slope"), {{1, Json::object()}}, 0).value) << "no samples";
}

TEST(Kpi, TheEcnRatioIsOfAllPackets) {
  Json report = collective({1000});
  report["traffic"] = {{{"marked", 15}, {"packets", 100}}};
  EXPECT_DOUBLE_EQ(*evaluate(function("ecn-ratio"), {{1, report}}, 0).value, 0.1);
}

TEST(Kpi, CountersOfClassesAreSummedOverPorts) {
  const Json one{{"storms_detected", 2}};
  Json report;
  report["ports"] = Json::array();
  for (const int n : {1, 2}) {
    Json port;
    port["port"] = n;
    port["classes"] = Json::array();
    port["classes"].push_back(one);
    report["ports"].push_back(port);
  }
  EXPECT_DOUBLE_EQ(*evaluate(function("class-counter", "storms_detected"), {{1, report}}, 0).value, 4);
}

TEST(Kpi, RatesAreOverTheLoadInterval) {
  const Json report{{"summary", {{"xoff_sent", 50}}}, {"load_interval", {{"from_ns", 0}, {"to_ns", 1'000'000}}}};
  EXPECT_DOUBLE_EQ(*evaluate(function("per-second", "xoff_sent"), {{1, report}}, 0).value, 50'000);
}

TEST(Kpi, CasesAreComparedWithTheOneThatDiffersInOneParameter) {
  Kpi jct = function("iteration-time");
  jct.name = "jct";
  Kpi ratio = function("ratio", "jct");
  ratio.against = {"path", "ECMP"};
  Kpi deviation = function("deviation", "jct");
  deviation.against = {"S", ""};
  const auto value = [](double x) { return Value{x, {x}, 1, false}; };
  std::vector<CaseValues> cases{{{{"path", "ECMP"}, {"S", "100B"}}, {value(110), {}, {}}},
                                {{{"path", "spray"}, {"S", "100B"}}, {value(55), {}, {}}},
                                {{{"path", "spray"}, {"S", "200B"}}, {value(10), {}, {}}}};
  compare_cases({jct, ratio, deviation}, cases);
  EXPECT_DOUBLE_EQ(*cases[0].values[1].value, 1);
  EXPECT_DOUBLE_EQ(*cases[1].values[1].value, 0.5);
  EXPECT_FALSE(cases[2].values[1].value) << "no ECMP of this size";
  EXPECT_NEAR(*cases[0].values[2].value, 0.1, 1e-12);
}

TEST(Kpi, ARatioHasTheSpreadOfItsTrials) {
  Kpi jct = function("iteration-time");
  jct.name = "jct";
  Kpi ratio = function("ratio", "jct");
  ratio.against = {"tenants", "apart"};
  std::vector<CaseValues> cases{{{{"tenants", "apart"}}, {Value{15, {10, 20}, 2, false}, {}}},
                                {{{"tenants", "together"}}, {Value{30, {15, 40}, 2, false}, {}}}};
  compare_cases({jct, ratio}, cases);
  EXPECT_DOUBLE_EQ(*cases[1].values[1].value, 2);
  EXPECT_THAT(cases[1].values[1].by_trial, testing::ElementsAre(1.5, 2));
}

TEST(Kpi, TheLargestValueOfAParameterAtWhichAKpiHolds) {
  Kpi share = function("per-second");
  share.name = "share";
  Kpi most = function("largest", "share");
  most.against = {"endpoints", "0.9"};
  const auto value = [](double x) { return Value{x, {x}, 1, false}; };
  std::vector<CaseValues> cases{{{{"column", "a"}, {"endpoints", "1"}}, {value(1), {}}},
                                {{{"column", "a"}, {"endpoints", "100"}}, {value(0.95), {}}},
                                {{{"column", "a"}, {"endpoints", "1000"}}, {value(0.5), {}}},
                                {{{"column", "b"}, {"endpoints", "1000"}}, {value(1), {}}}};
  compare_cases({share, most}, cases);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(*cases[i].values[1].value, 100) << i;
  EXPECT_DOUBLE_EQ(*cases[3].values[1].value, 1000);
}

}  // namespace
}  // namespace railyard::bench
