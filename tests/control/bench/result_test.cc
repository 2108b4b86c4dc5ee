// A result as text and as JSON.
#include "control/bench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/bench/shipped.h"
#include "tests/control/bench/schema_check.h"

namespace railyard::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two trials of one case of T9.3 that ran, and one that did not.
Result result() {
  Result r;
  r.version = "1.2.3";
  ClauseResult& c = r.clauses.emplace_back();
  c.clause = clauses({"T9.3"}).front();
  c.plan.clause = c.clause;
  c.plan.seeds = {1, 2, 3};
  Case& x = c.plan.cases.emplace_back();
  x.params = {{"path", "ECMP"}, {"S", "8MiB"}};
  x.fabric.topology_class = "A";
  x.fabric.b_acc_bps = 100'000'000'000;
  x.transport.transport = "RoCEv2 RC";
  std::vector<Trial> trials;
  for (const double time : {1000.0, 1200.0}) {
    Trial& t = trials.emplace_back();
    t.report = {{"run", {{"lab_digest", "abc"}}},
                {"summary", {{"xoff_sent", 0}}},
                {"load_interval", {{"from_ns", 0}, {"to_ns", 1000}}},
                {"collectives",
                 {{{"collective", "all-gather"},
                   {"ranks", {"h1", "h2"}},
                   {"bytes", 10000},
                   {"busbw_factor", 0.5},
                   {"algorithm", "ring"},
                   {"channels", 1},
                   {"chunk", 512},
                   {"fabric_bytes", 5000},
                   {"job", nullptr},
                   {"ecn_marked", 0},
                   {"packets", 10},
                   {"iterations", {{{"start_ns", 0}, {"time_ns", time}}}}}}}};
  }
  CaseResult& done = c.cases.emplace_back(case_result(c.plan, 0, trials));
  done.attempted = 3;
  done.excluded = {{3, "the run did not end"}};
  compare_cases(c);
  ClauseResult& not_run = r.clauses.emplace_back();
  not_run.clause = clauses({"T10.2"}).front();
  not_run.not_run = "not applicable: no accelerators";
  return r;
}

TEST(BenchResult, FitsItsSchema) {
  const auto schema = nlohmann::ordered_json::parse(result_schema());
  EXPECT_THAT(problems(schema, json(result())), testing::IsEmpty());
  auto other = json(result());
  other["schema"] = "fabric-bench/2";
  other["results"][0]["cases"][0].erase("kpi");
  EXPECT_THAT(problems(schema, other), testing::SizeIs(2));
}

TEST(BenchResult, HasAllThatTheDraftWantsBesideAFigure) {
  const auto j = json(result());
  EXPECT_EQ(j["methodology"]["rev"], "04");
  const auto& c = j["results"][0]["cases"][0];
  EXPECT_EQ(c["algorithm_verified"], "ring/1ch, chunks of 512 bytes");
  EXPECT_EQ(c["s_fabric"]["bytes"], 2500);
  EXPECT_EQ(c["comparability"]["algo_factor"], 0.5);
  EXPECT_EQ(c["trials"]["included"], 2);
  EXPECT_EQ(c["trials"]["excluded"][0]["reason"], "the run did not end");
  const auto& busbw = c["kpi"][0];
  EXPECT_EQ(busbw["name"], "busbw");
  EXPECT_EQ(busbw["obs"], "c");
  EXPECT_NEAR(busbw["value"].get<double>(), 10000 * 8 * 0.5 / 1100, 1e-9);
  EXPECT_NEAR(busbw["cv"].get<double>(), 0.1286, 1e-4);
  EXPECT_TRUE(j["results"][0]["verdict"].is_null());
}

TEST(BenchResult, TheTextHasNoVerdict) {
  EXPECT_THAT(text(result()),
              AllOf(HasSubstr("draft-calabria-bmwg-ai-fabric-training-bench-04"), HasSubstr("there is no verdict"),
                    HasSubstr("Algorithm that ran: all-gather ring/1ch"), HasSubstr("busbw Gb/s [c]"),
                    HasSubstr("Reference, non-normative: busbw_efficiency >= 90 %"), HasSubstr("Deviation: N = 16"),
                    HasSubstr("Excluded: path ECMP, S 8MiB, seed 3: the run did not end"),
                    HasSubstr("Trials: 3 attempted, 2 included"), HasSubstr("not run: not applicable"),
                    Not(HasSubstr("pass")), Not(HasSubstr("FAIL"))));
}

}  // namespace
}  // namespace railyard::bench
