// Which runs a clause is made of. Every clause of ours can be planned in both profiles.
#include "control/bench/plan.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::bench {
namespace {

class BenchPlan : public testing::Test {
 protected:
  BenchPlan()
      : file_(std::filesystem::temp_directory_path() / ("bench-plan-" + std::to_string(::getpid()) + ".yaml")) {}
  ~BenchPlan() override { std::filesystem::remove(file_); }

  Plan of(const Clause& c, Profile profile, const std::optional<std::string>& fabric = {}) const {
    std::ofstream(file_) << lab_text(c, fabric);
    return plan(c, profile, file_);
  }
  const Clause& clause(const char* id) const { return *clauses({id}).front(); }

  std::filesystem::path file_;
};

TEST_F(BenchPlan, EveryClauseThatRunsHasCasesThatAreValidLabs) {
  for (const Clause& c : clauses())
    for (const Profile profile : {Profile::kCi, Profile::kLab})
      if (c.runs()) {
        const Plan p = of(c, profile);
        EXPECT_FALSE(p.cases.empty()) << c.id;
        for (const Case& x : p.cases) {
          EXPECT_GT(x.fabric.b_acc_bps, 0) << c.id;
          if (profile == Profile::kCi && !c.columns.empty()) EXPECT_EQ(x.params.front().first, "column") << c.id;
        }
      }
}

TEST_F(BenchPlan, CasesAreAllCombinationsOfColumnsAndValues) {
  const Plan p = of(clause("T7.2"), Profile::kCi);
  EXPECT_EQ(p.cases.size(), 8u);  // 4 numbers of senders, 2 columns
  EXPECT_EQ(p.seeds.size(), 3u);
  EXPECT_THAT(p.cases[1].params,
              testing::ElementsAre(std::pair<std::string, std::string>("column", "roce/gbn/no-cc/ecmp/pfc"),
                                   std::pair<std::string, std::string>("senders", "2")));
  EXPECT_THAT(p.cases[1].sets, testing::Contains("traffic.in.fan-in=2"));
  EXPECT_THAT(p.cases[1].sets, testing::Contains("hosts.default.roce.congestion=none"));
  EXPECT_EQ(p.cases[1].transport.congestion, "none");
}

TEST_F(BenchPlan, AFabricOfTheUsersTakesTheWorkOfTheClause) {
  const spec::Lab own = spec::parse(
      "name: own\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2, fabric-link: { rate: "
      "200Gbps } }\n"
      "traffic: [{ name: mine, from: h1, to: h2, bytes: 1MB }]\n",
      "own.yaml");
  spec::Lab bare = own;
  bare.traffic.clear();
  const Plan p = of(clause("T9.1"), Profile::kCi, spec::to_yaml(bare));
  EXPECT_EQ(p.cases[0].fabric.hosts, 4u);
  EXPECT_EQ(p.cases[0].fabric.accelerators, 4u);
  EXPECT_EQ(p.cases[0].fabric.bisection_bps, 200'000'000'000);
  const spec::Lab run = spec::load(file_);
  EXPECT_TRUE(run.traffic.empty());
  EXPECT_EQ(run.collectives.size(), 1u);
}

TEST_F(BenchPlan, AFabricWithoutTheHostsOfAClauseSaysSo) {
  const spec::Lab own =
      spec::parse("name: own\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n", "own.yaml");
  EXPECT_THROW(of(clause("T5.1"), Profile::kCi, spec::to_yaml(own)), std::exception);
}

}  // namespace
}  // namespace railyard::bench
