// railyard run --report, compare and sweep: files, tables, messages.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Reports : public CommandLine {};

TEST_F(Reports, ARunLeavesItsReportInEveryFormAndTheLab) {
  const Outcome o =
      railyard({"run", "lab.yaml", "--report", "out", "--series", "q.csv", "--set", "run.budgets.scale-out=1ms"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(read("out/report.html"), HasSubstr("<section id=\"series\">"));
  const json report = json::parse(read("out/report.json"));
  EXPECT_EQ(report["run"]["command"],
            "railyard run lab.yaml --set run.budgets.scale-out=1ms --series q.csv --report out");
  EXPECT_EQ(report["verdicts"][0]["verdict"], "pass");
  EXPECT_EQ(report["summary"]["drops"], 0);
  // The lab that was run, run again.
  const Outcome again = railyard({"run", "out/lab.yaml", "--json"});
  ASSERT_EQ(again.exit_code, kOk) << again.err;
  const json second = json::parse(again.out);
  EXPECT_EQ(second["flows"], report["flows"]);
  EXPECT_EQ(second["run"]["lab_digest"], report["run"]["lab_digest"]);
}

TEST_F(Reports, TheDigestOfALabChangesWithWhatItSaysAndNotWithItsSeed) {
  const auto digest = [&](const std::string& set) {
    return json::parse(railyard({"run", "lab.yaml", "--json", "--set", set}).out)["run"]["lab_digest"];
  };
  EXPECT_EQ(digest("run.seed=1"), digest("run.seed=2"));
  EXPECT_NE(digest("run.seed=1"), digest("defaults.link.rate=400Gbps"));
}

TEST_F(Reports, TwoAreCompared) {
  ASSERT_EQ(railyard({"run", "lab.yaml", "--report", "a"}).exit_code, kOk);
  ASSERT_EQ(railyard({"run", "lab.yaml", "--report", "b", "--set", "defaults.link.rate=50Gbps"}).exit_code, kOk);
  const Outcome text = railyard({"compare", "a", "b/report.json"});
  EXPECT_EQ(text.exit_code, kOk);
  EXPECT_THAT(text.out, HasSubstr("NOT THE SAME EXPERIMENT"));
  EXPECT_THAT(text.out, HasSubstr("fct_p99"));
  const json j = json::parse(railyard({"compare", "a", "b", "--json"}).out);
  EXPECT_EQ(j["comparable"], false);
  EXPECT_EQ(j["differences"][0]["what"], "spec");
  EXPECT_EQ(json::parse(railyard({"compare", "a", "a", "--json"}).out)["comparable"], true);
}

TEST_F(Reports, AReportThatIsMissingOrBrokenIsNamed) {
  EXPECT_THAT(error(kFailed, {"compare", "nowhere", "lab.yaml"}), HasSubstr("nowhere: cannot be read: No such file"));
  EXPECT_THAT(error(kFailed, {"compare", "lab.yaml", "lab.yaml"}), HasSubstr("lab.yaml: is not JSON"));
}

class Sweeps : public CommandLine {};

TEST_F(Sweeps, RunsAllCombinationsAndMarksTheBest) {
  const Outcome o =
      railyard({"sweep", "lab.yaml", "--over", "defaults.link.rate=100Gbps,50Gbps", "--over",
                "traffic.0.bytes=10KB,100KB", "--seeds", "1-2", "--metric", "fct_p99,/engine/windows", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const json j = json::parse(o.out);
  ASSERT_EQ(j["rows"].size(), 4u);
  EXPECT_EQ(j["rows"][1]["set"], json::parse(R"({"defaults.link.rate": "100Gbps", "traffic.0.bytes": "100KB"})"));
  EXPECT_EQ(j["rows"][0]["figures"]["fct_p99"]["winner"], true) << "fast and small";
  for (const json& row : j["rows"]) {
    EXPECT_EQ(row["runs"], 2);
    EXPECT_EQ(row["figures"]["/engine/windows"]["values"].size(), 2u);
  }
}

// The transport is a parameter as any other; those of one mean nothing to the other.
TEST_F(Sweeps, OverTransportsAndSettingsOfUet) {
  write("uet.yaml",
        "name: uet\ntopology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 4 }\n"
        "traffic: [ { name: t, pattern: permutation, transport: uet, message: 100KB, bytes: 400KB } ]\n");
  const Outcome o = railyard({"sweep", "uet.yaml", "--over", "traffic.t.transport=roce,uet", "--over",
                              "hosts.default.uet.path-policy=single,mixed", "--metric",
                              "fct_max,retransmitted,/lab/uet_flows", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const json j = json::parse(o.out);
  ASSERT_EQ(j["rows"].size(), 4u);
  const auto figure = [&](std::size_t row, const char* metric) -> double {
    return j["rows"][row]["figures"][metric]["values"][0];
  };
  EXPECT_EQ(figure(0, "fct_max"), figure(1, "fct_max")) << "RoCE has no such policy";
  EXPECT_LT(figure(3, "fct_max"), figure(2, "fct_max")) << "UET sprays";
  EXPECT_EQ(figure(0, "/lab/uet_flows"), 0);
  EXPECT_EQ(figure(3, "/lab/uet_flows"), 8);
}

TEST_F(Sweeps, ARunThatFailsIsShownAndTheOthersGoOn) {
  const Outcome o = railyard({"sweep", "lab.yaml", "--over", "defaults.link.rate=100Gbps,fast", "--jobs", "1"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("1 of 1"));
  EXPECT_THAT(o.out, HasSubstr("FAILED defaults.link.rate=fast seed 1: railyard: --set defaults.link.rate=fast: "));
  EXPECT_THAT(o.out, HasSubstr("us"));
}

TEST_F(Sweeps, WhatIsWrongIsSaid) {
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--over", "x"}), HasSubstr("--over: 'x': expected PATH=VALUE"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--seeds", "5-1"}), HasSubstr("--seeds: '5-1'"));
  EXPECT_THAT(error(kSpec, {"sweep", "missing.yaml"}), HasSubstr("missing.yaml: cannot be read"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--metric", "fct_p98"}),
              HasSubstr("--metric: no run has 'fct_p98'; did you mean 'fct_p99'?"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--set", "run.clock=wall"}), HasSubstr("wall clock"));
}

}  // namespace
}  // namespace railyard::tools
