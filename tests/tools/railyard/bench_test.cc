// railyard bench: a small clause as a user runs it, and what is said against wrong input.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOwnClause = R"(schema: fabric-bench-clause/1
id: T9.1
category: C5
title: AllReduce of four hosts
section: "9.1"
status: implemented
lab:
  topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
  collectives: [{ name: all, collective: all-reduce, size: 256KiB, repeats: 3 }]
columns: [roce/gbn/ecmp/pfc, uet/rud/spray/lossy]
sweep:
  - { name: S, key: collectives.all.size, draft: [1GiB], ci: [64KiB, 256KiB], lab: [1GiB] }
kpis:
  - { name: busbw, unit: Gb/s, function: busbw, at: mean, scale: 1e-9, observed: c, primary: true, reference: ">= 0.90" }
  - { name: against_roce, unit: x, function: ratio, of: busbw, against: { column: roce/gbn/ecmp/pfc }, observed: c }
profiles:
  ci: { seeds: "1-2" }
  lab: {}
)";

class Bench : public CommandLine {
 protected:
  Bench() { write("own.yaml", kOwnClause); }
};

TEST_F(Bench, AClauseRunsItsCasesAndReportsTheirKpis) {
  const Outcome o = railyard({"bench", "--definition", "own.yaml", "-o", "result.json"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("smoke, not a draft result"), HasSubstr("AllReduce of four hosts"),
                           HasSubstr("Algorithm that ran: all-reduce ring"), HasSubstr("uet/rud/spray/lossy"),
                           HasSubstr("Trials: 8 attempted, 8 included"), HasSubstr("busbw >= 0.90"),
                           HasSubstr("S: 0 of the draft's 1 values")));
  const auto j = nlohmann::json::parse(read("result.json"));
  EXPECT_EQ(j["schema"], "fabric-bench/1");
  ASSERT_EQ(j["results"][0]["cases"].size(), 4u);
  for (const auto& c : j["results"][0]["cases"]) {
    EXPECT_EQ(c["kpi"][0]["n"], 2);
    EXPECT_GT(c["kpi"][0]["value"].get<double>(), 10) << c;
    EXPECT_LT(c["kpi"][0]["value"].get<double>(), 100) << c;
    EXPECT_EQ(c["comparability"]["N"], 4);
    EXPECT_EQ(c["dut"]["topology"]["class"], "A");
  }
  EXPECT_EQ(j["results"][0]["cases"][0]["kpi"][1]["value"], 1);
}

TEST_F(Bench, TheSameRunsGiveTheSameResults) {
  const std::vector<std::string> command{"bench", "--definition", "own.yaml", "--json", "--jobs"};
  const auto with = [&](const char* jobs) {
    std::vector<std::string> c = command;
    c.emplace_back(jobs);
    return railyard(c).out;
  };
  EXPECT_EQ(with("1"), with("2"));
}

TEST_F(Bench, LabsAreKeptAsFabricFiles) {
  EXPECT_EQ(railyard({"bench", "--definition", "own.yaml", "--keep", "labs"}).exit_code, kOk);
  EXPECT_EQ(railyard({"run", "labs/T9.1.yaml"}).exit_code, kOk);
}

TEST_F(Bench, AClauseRunsOnAFabricOfTheUsers) {
  write("mine.yaml", "name: mine\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n");
  const Outcome o = railyard({"bench", "--definition", "own.yaml", "--fabric", "mine.yaml", "--json"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)["results"][0]["cases"][0]["comparability"]["N"], 3);
  // Pairs of sixteen hosts.
  const Outcome not_run = railyard({"bench", "--only", "T5.1", "--fabric", "mine.yaml"});
  EXPECT_EQ(not_run.exit_code, kOk) << not_run.err;
  EXPECT_THAT(not_run.out, AllOf(HasSubstr("not run: this fabric cannot have it"), HasSubstr("h4")));
}

TEST_F(Bench, ClausesThatDoNotRunSayWhy) {
  const Outcome o = railyard({"bench", "--only", "T10.2"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("not run: not applicable: an emulator has no accelerators"));
}

constexpr const char* kFailure = R"(schema: fabric-bench-clause/1
id: T11.2
category: C7
title: A failure of four hosts
section: "11.2"
status: implemented
lab:
  topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
  hosts: { default: { roce: { loss-recovery: selective-repeat, ack-timeout: 7 } } }
  routing: { carrier-delay: 20us, processing: 10us, fib-delay: 10us, message-delay: 5us }
  collectives: [{ name: all, collective: all-reduce, size: 1MiB, repeats: 6, forward: 200us, gap: 50us }]
  faults: [{ name: failure, on: "spine1:1", down: true, at: 1s }]
sweep:
  - { name: phase, key: faults.failure.at, iteration: 3, ci: ["before => computing 1/4", "during => communication 1/2", "after => gap 1/2"], lab: [gap 1/2] }
kpis:
  - { name: overhead, unit: us, function: failure-overhead, scale: 1e-3, observed: c, primary: true }
  - { name: phase, unit: "%", function: failure-phase, scale: 100, observed: c }
profiles:
  ci: { seeds: "1-2" }
  lab: {}
)";

TEST_F(Bench, AFailureFallsIntoThePhaseThatIsAskedFor) {
  write("failure.yaml", kFailure);
  const Outcome o = railyard({"bench", "--definition", "failure.yaml", "--json"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  const auto cases = nlohmann::json::parse(o.out)["results"][0]["cases"];
  ASSERT_EQ(cases.size(), 3u);
  const auto phase = [&](std::size_t i) { return cases[i]["kpi"][1]["value"].get<double>(); };
  EXPECT_GT(phase(0), 0);
  EXPECT_LT(phase(0), phase(1));
  EXPECT_LT(phase(1), 100);
  EXPECT_GT(phase(2), 95) << "after the iteration; its length differs from the mean of those before it by the hash";
  EXPECT_EQ(cases[1]["kpi"][1]["n"], 2);
}

TEST_F(Bench, ThePageIsWrittenBesideTheText) {
  const Outcome o = railyard({"bench", "--definition", "own.yaml", "--html", "result.html"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("Trials: 8 attempted, 8 included"));
  EXPECT_THAT(read("result.html"),
              AllOf(StartsWith("<!doctype html>"), HasSubstr("AllReduce of four hosts"), HasSubstr("busbw Gb/s [c]"),
                    HasSubstr("8 of 8"), HasSubstr("roce/gbn/ecmp/pfc")));
  EXPECT_THAT(error(kUsage, {"bench", "--definition", "own.yaml", "--html", "-", "--json"}), HasSubstr("--html"));
}

TEST_F(Bench, TheTimeIsEstimatedBeforeItIsSpent) {
  const Outcome o = railyard({"bench", "--only", "T8.4,T12.2", "--profile", "lab", "--estimate"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("T8.4"), HasSubstr("T12.2"), HasSubstr("61 runs"), HasSubstr("at a time: about")));
}

TEST_F(Bench, TheLabProfileSaysHowLongItTakes) {
  write("failure.yaml", kFailure);
  const Outcome o = railyard({"bench", "--definition", "failure.yaml", "--profile", "lab"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.err, HasSubstr("at a time: about"));
  EXPECT_THAT(o.out, AllOf(HasSubstr("Profile lab: reduced: parameters listed"), HasSubstr("Trials: 3 attempted, 3 included")));
}

TEST_F(Bench, TablesAreListed) {
  EXPECT_THAT(railyard({"bench", "--clauses"}).out, AllOf(HasSubstr("T12.2"), HasSubstr("not applicable")));
  EXPECT_THAT(railyard({"bench", "--list", "--profile", "lab"}).out, HasSubstr("searches"));
  EXPECT_EQ(nlohmann::json::parse(railyard({"bench", "--schema"}).out)["properties"]["schema"]["const"],
            "fabric-bench/1");
}

TEST_F(Bench, WrongInputIsOneClearError) {
  EXPECT_THAT(error(kUsage, {"bench", "--only", "T99"}),
              AllOf(HasSubstr("--only: 'T99' is no clause"), HasSubstr("T5.1")));
  EXPECT_THAT(error(kInput, {"bench", "--definition", "none.yaml"}), HasSubstr("none.yaml"));
  write("bad.yaml",
        std::string(kOwnClause).replace(std::string(kOwnClause).find("function: busbw"), 15, "figure: buzbw"));
  EXPECT_THAT(error(kInput, {"bench", "--definition", "bad.yaml"}),
              AllOf(HasSubstr("bad.yaml:14:"), HasSubstr("'buzbw'"), HasSubstr("did you mean 'busbw'")));
  write("bad.yaml", std::string(kOwnClause).replace(0, 30, "schema: fabric-bench-clause/9\n"));
  EXPECT_THAT(error(kInput, {"bench", "--definition", "bad.yaml"}), HasSubstr("expected fabric-bench-clause/1"));
  EXPECT_THAT(error(kUsage, {"bench", "--profile", "huge"}), HasSubstr("--profile"));
}

}  // namespace
}  // namespace railyard::tools
