// railyard run --report, compare and sweep: files, tables, messages.
#include <algorithm>
#include <filesystem>

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
  EXPECT_THAT(read("out/report.html"), HasSubstr("<section id=\"topology\">"));
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

// A verdict that fails on a healthy lab is noise.
TEST_F(Reports, HealthyLabsThatAreShippedFailNoVerdict) {
  for (const char* lab : {"incast-8to1", "rails-4x8", "permutation-128", "web-search"}) {
    const Outcome o = railyard({"run", topology(std::string(lab) + ".yaml"), "--json"});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
    for (const json& verdict : json::parse(o.out)["verdicts"]) EXPECT_NE(verdict["verdict"], "fail") << lab << verdict;
  }
}

TEST_F(Reports, FlowsOverTimeAloneAreOnThePage) {
  const Outcome o = railyard({"run", "lab.yaml", "--report", "out", "--flow-series", "f.csv", "--series-every", "2us"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(read("f.csv"), HasSubstr("h1->h2"));
  EXPECT_THAT(read("out/report.html"), HasSubstr("<section id=\"rates\">"));
  const Outcome neither = railyard({"run", "lab.yaml", "--series-every", "2us"});
  EXPECT_EQ(neither.exit_code, kUsage);
  EXPECT_THAT(neither.err, HasSubstr("--series-every: needs --series or --flow-series"));
}

// What a file shows is said as long as it is so, and the fix that it names makes it untrue.
class Diagnoses : public CommandLine, public testing::WithParamInterface<const char*> {};
TEST_P(Diagnoses, ArePrintedWithTheCommandThatHeals) {
  const std::string file = topology(std::string("scenarios/") + GetParam() + ".yaml");
  const Outcome o = railyard({"run", file, "-q"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  std::size_t at = 0;
  for (const char* part : {"\nDiagnosis\n", "\n  Symptom: ", "\n  Cause:   ",
                           "\n  Fix:     ", "\n    railyard run "}) {
    at = o.out.find(part, at);
    ASSERT_NE(at, o.out.npos) << part << o.out;
  }
  const json lab = json::parse(railyard({"run", file, "--json"}).out);
  std::vector<std::string> with_fix{"run", file, "-q"};
  for (const json& set : lab["diagnosis"]["set"]) with_fix.insert(with_fix.end(), {"--set", set.get<std::string>()});
  ASSERT_GT(with_fix.size(), 3u);
  const Outcome healed = railyard(with_fix);
  EXPECT_EQ(healed.exit_code, kOk) << healed.err;
  EXPECT_THAT(healed.out, testing::Not(HasSubstr("Diagnosis\n")));
}

// Another mistake in the same lab, or the opposite one: what the file says of its own is not said.
TEST_F(Reports, ADiagnosisIsNotSaidOfAnotherMistake) {
  const std::pair<const char*, std::vector<std::string>> kOthers[] = {
      {"roce-ecn-thresholds", {"qos.default.classes.3.ecn={ kmin: 1KB, kmax: 2KB, pmax: 100% }"}},
      {"roce-one-drop", {"faults.one.match.nth=300", "traffic.t.outstanding=8"}},
      {"roce-mtu-mismatch", {"faults.no-jumbo.mtu=9216"}},
      {"roce-pfc-misaligned", {"qos.default.classes.3={ lossless: true, alpha: 1/8 }"}},
      {"roce-incast-headroom", {"traffic.incast.fan-in=1"}},
      {"roce-polarisation", {"switches.default.ecmp={ fields: [addresses, ports, destination-qp] }"}},
      {"roce-degraded-link", {"faults.bad-cable.on=leaf1:1"}},
      {"roce-mixed-priority", {"traffic.train.dscp=0", "traffic.backup.dscp=26"}},
      {"storage-burst", {"traffic.storage="}},
      {"roce-pair-passes", {"qos.forgotten.classes.3={ lossless: true, alpha: 1/8 }"}},
      {"hierarchical-vs-ring", {"collectives.flat.ranks=[h*]"}}};
  for (const auto& [scenario, sets] : kOthers) {
    std::vector<std::string> words{"run", topology(std::string("scenarios/") + scenario + ".yaml"), "-q"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    const Outcome o = railyard(words);
    EXPECT_THAT(o.out, testing::HasSubstr("Verdicts\n")) << scenario << o.err;
    EXPECT_THAT(o.out, testing::Not(HasSubstr("Diagnosis\n"))) << scenario;
  }
}
INSTANTIATE_TEST_SUITE_P(Scenarios, Diagnoses,
                         testing::Values("roce-mtu-mismatch", "roce-pfc-misaligned", "roce-ecn-thresholds",
                                         "roce-mixed-priority", "roce-incast-headroom", "roce-one-drop",
                                         "roce-degraded-link", "roce-pair-passes", "roce-polarisation",
                                         "storage-burst", "hierarchical-vs-ring"),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::erase(name, '-');
                           return name;
                         });

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
  EXPECT_THAT(text.out, testing::ContainsRegex("Settings that differ\n  setting +a +b\n  links.h1:1.rate +100Gbps +50Gbps\n"));
  EXPECT_THAT(text.out, HasSubstr("fct_p99"));
  const json j = json::parse(railyard({"compare", "a", "b", "--json"}).out);
  EXPECT_EQ(j["comparable"], false);
  EXPECT_EQ(j["differences"][0]["what"], "spec");
  EXPECT_EQ(json::parse(railyard({"compare", "a", "a", "--json"}).out)["comparable"], true);
}

// before.json and after.json in a folder that has some lab.yaml: it is of neither, or of one of them.
TEST_F(Reports, ALabThatIsNotTheReportsIsNotUsed) {
  ASSERT_EQ(railyard({"run", "lab.yaml", "--report", "a"}).exit_code, kOk);
  ASSERT_EQ(railyard({"run", "lab.yaml", "--report", "b", "--set", "defaults.link.rate=50Gbps"}).exit_code, kOk);
  ASSERT_EQ(railyard({"run", "lab.yaml", "--report", "c", "--int", "int.jsonl"}).exit_code, kOk);
  std::filesystem::create_directory(folder_ / "mixed");
  write("mixed/before.json", read("a/report.json"));
  write("mixed/after.json", read("b/report.json"));
  const Outcome none = railyard({"compare", "mixed/before.json", "mixed/after.json", "--html", "out.html"});
  EXPECT_EQ(none.exit_code, kOk);
  EXPECT_THAT(none.out,
              HasSubstr("Settings that differ: unknown\n  mixed/before.json: no lab.yaml in its directory\n"));
  EXPECT_THAT(none.out, testing::ContainsRegex("spec +[0-9a-f]+ \\| [0-9a-f]+")) << "at least that they are not alike";
  EXPECT_THAT(read("out.html"), HasSubstr("mixed/after.json: no lab.yaml in its directory"));
  write("mixed/lab.yaml", read("b/lab.yaml"));
  const Outcome o = railyard({"compare", "mixed/before.json", "mixed/after.json"});
  EXPECT_THAT(
      o.out,
      HasSubstr("Settings that differ: unknown\n  mixed/before.json: lab.yaml in its directory is of another lab\n\n"));
  EXPECT_THAT(o.out, testing::ContainsRegex("spec +[0-9a-f]+ \\| [0-9a-f]+"));
  const json j = json::parse(railyard({"compare", "mixed/before.json", "mixed/after.json", "--json"}).out);
  EXPECT_TRUE(j["settings"].is_null());
  EXPECT_EQ(j["unknown_labs"].size(), 1u);
  EXPECT_THAT(railyard({"compare", "a", "c"}).out, testing::Not(HasSubstr("unknown")))
      << "its own, though --int adds to it";
}

TEST_F(Reports, AReportThatIsMissingOrBrokenIsNamed) {
  EXPECT_THAT(error(kInput, {"compare", "nowhere", "lab.yaml"}), HasSubstr("nowhere: cannot be read: No such file"));
  EXPECT_THAT(error(kInput, {"compare", "lab.yaml", "lab.yaml"}), HasSubstr("lab.yaml: not valid JSON"));
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

// Scripts name columns: these do not depend on which figures the lab has.
TEST_F(Sweeps, ColumnsOfTheCsvAreFixed) {
  const Outcome o = railyard({"sweep", "lab.yaml", "--over", "traffic.0.bytes=10KB,100KB", "--csv", "t.csv"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, testing::Not(HasSubstr("busbw"))) << "the table leaves out what no run has";
  std::string head = "traffic.0.bytes";
  for (const std::string name : {"busbw", "goodput", "fct_p50", "fct_p99", "slowdown_p99", "latency_p99", "jain",
                                 "drops", "xoff_sent", "retransmitted"})
    head += "," + name + "," + name + ".min," + name + ".max";
  const std::string csv = read("t.csv");
  EXPECT_EQ(csv.substr(0, csv.find('\n')), head + ",runs,failed,incomplete");
  EXPECT_THAT(csv, HasSubstr("\n10KB,,,,")) << "no busbw";
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
}

TEST_F(Sweeps, AKeyIsSweptOrSearched) {
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--over", "traffic.0.rate=1Gbps,2Gbps", "--search",
                             "traffic.0.rate=1Gbps..9Gbps"}),
              HasSubstr("--over: traffic.0.rate=1Gbps: --search varies this key"));
}

// The transport is a parameter as any other; those of one mean nothing to the other.
TEST_F(Sweeps, OverTransportsAndSettingsOfUet) {
  write("uet.yaml",
        "name: uet\ntopology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 4 }\n"
        "traffic: [ { name: t, pattern: permutation, transport: uet, message: 100KB, bytes: 400KB } ]\n");
  const Outcome o = railyard({"sweep", "uet.yaml", "--over", "traffic.t.transport=roce,uet", "--over",
                              "hosts.default.uet.path-policy=single,mixed", "--metric",
                              "fct_max,retransmitted,/lab/uet_flows", "--set", "run.seed=2", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const json j = json::parse(o.out);
  ASSERT_EQ(j["rows"].size(), 4u);
  const auto figure = [&](std::size_t row, const char* metric) -> double {
    return j["rows"][row]["figures"][metric]["values"][0];
  };
  EXPECT_EQ(figure(0, "fct_max"), figure(1, "fct_max")) << "RoCE has no such policy";
  EXPECT_LT(figure(3, "fct_max"), figure(2, "fct_max")) << "UET sprays; with this seed single paths collide";
  EXPECT_EQ(figure(0, "/lab/uet_flows"), 0);
  EXPECT_EQ(figure(3, "/lab/uet_flows"), 8);
}

// What collectives are tuned by: how they are made, in which pieces, and where their ranks are.
TEST_F(Sweeps, OverCollectivesAlgorithmsChunksAndPlacements) {
  write("racks.csv", "rank,host\n0,h1\n1,h2\n2,h3\n3,h4\n");
  write("mixed.csv", "rank,host\n0,h1\n1,h3\n2,h2\n3,h4\n");
  write("c.yaml",
        "name: c\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
        "collectives: [ { name: c, size: 1MiB, placement: racks.csv } ]\n");
  const Outcome o = railyard({"sweep", "c.yaml", "--over", "collectives.c.collective=all-reduce,all-gather", "--over",
                              "collectives.c.algorithm=ring,halving-doubling", "--over",
                              "collectives.c.chunk=64KiB,256KiB", "--over",
                              "collectives.c.placement=racks.csv,mixed.csv", "--metric", "collective_time", "--json"});
  EXPECT_EQ(o.exit_code, kFailed) << "there is no all-gather by halving-doubling";
  const json j = json::parse(o.out);
  ASSERT_EQ(j["rows"].size(), 16u);
  std::size_t winners = 0;
  std::vector<double> times;
  for (std::size_t i = 0; i < 16; ++i) {
    const json& row = j["rows"][i];
    EXPECT_EQ(!row["failed"].empty(), i / 4 == 3) << row.dump();
    if (i / 4 == 3) continue;
    times.push_back(row["figures"]["collective_time"]["values"][0]);
    winners += row["figures"]["collective_time"].value("winner", false) ? 1u : 0u;
  }
  EXPECT_GE(winners, 1u);
  // In the order of the racks a ring leaves each once; else at every hop.
  EXPECT_LT(times[0], 0.7 * times[1]);
}

// The smallest buffer with which an incast of so many loses nothing.
TEST_F(Sweeps, FindTheSmallestThatHoldsOfEachRow) {
  write("search.yaml",
        "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 9 }\n"
        "qos: { default: { classes: { 3: { lossless: false, queue-alpha: 8 } } } }\n"
        "traffic: [ { name: in, pattern: incast, to: h1, bytes: 64KiB } ]\n");
  const Outcome o = railyard({"sweep", "search.yaml", "--over", "traffic.in.fan-in=2,8", "--search",
                              "switches.default.buffer=4MiB..64KiB", "--until", "drops=0", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["search"]["from"], "4MiB");
  double found[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& figures = j["rows"][i]["figures"];
    found[i] = figures["switches.default.buffer"]["median"].get<double>();
    EXPECT_EQ(figures["drops"]["median"], 0);
  }
  EXPECT_TRUE(j["rows"][0]["figures"]["switches.default.buffer"]["winner"].get<bool>()) << "less is better";
  // What waits is all but one of the senders' octets.
  EXPECT_GT(found[0], 64 << 10);
  EXPECT_GT(found[1], 7 * (64 << 10));
  EXPECT_LT(found[1], 3 * 7 * (64 << 10));
  EXPECT_LT(found[0], found[1]);
}

TEST_F(Sweeps, ARunThatFailsIsShownAndTheOthersGoOn) {
  const Outcome o = railyard({"sweep", topology("incast-8to1.yaml"), "--set", "run.duration=100us", "--over",
                              "run.memory=1GiB,1MiB", "--jobs", "1"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("1 of 1"));
  EXPECT_THAT(o.out, HasSubstr("FAILED run.memory=1MiB seed 1: "));
  EXPECT_THAT(o.out, HasSubstr("us"));
}

TEST_F(Sweeps, WhatIsWrongIsSaid) {
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--over", "x"}), HasSubstr("--over: 'x': expected PATH=VALUE"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--seeds", "5-1"}), HasSubstr("--seeds: '5-1'"));
  EXPECT_THAT(error(kInput, {"sweep", "missing.yaml"}), HasSubstr("missing.yaml: cannot be read"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--metric", "fct_p98"}),
              HasSubstr("--metric: no run has 'fct_p98'; did you mean 'fct_p99'?"));
  EXPECT_THAT(error(kInput, {"sweep", "lab.yaml", "--over", "defaults.link.rate=100Gbps,fast"}),
              HasSubstr("railyard: --set defaults.link.rate=fast: "))
      << "no combination has a meaning with it: nothing ran";
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--over", "run.seed=1,2"}), HasSubstr("expected --seeds"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--set", "run.clock=wall", "--jobs", "2"}), HasSubstr("wall-clock"));
}

}  // namespace
}  // namespace railyard::tools
