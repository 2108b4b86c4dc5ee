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

TEST_F(Bench, TablesAreListed) {
  EXPECT_THAT(railyard({"bench", "--clauses"}).out, AllOf(HasSubstr("T12.2"), HasSubstr("not implemented yet")));
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
