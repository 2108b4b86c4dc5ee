// A result as text and as JSON.
#include "control/bench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/bench/shipped.h"
#include "tests/control/bench/sample_result.h"
#include "tests/control/bench/schema_check.h"

namespace railyard::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(BenchResult, FitsItsSchema) {
  const auto schema = nlohmann::ordered_json::parse(result_schema());
  EXPECT_THAT(problems(schema, json(sample_result())), testing::IsEmpty());
  auto other = json(sample_result());
  other["schema"] = "fabric-bench/2";
  other["results"][0]["cases"][0].erase("kpi");
  EXPECT_THAT(problems(schema, other), testing::SizeIs(2));
}

TEST(BenchResult, HasAllThatTheDraftWantsBesideAFigure) {
  const auto j = json(sample_result());
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
  EXPECT_THAT(text(sample_result()),
              AllOf(HasSubstr("draft-calabria-bmwg-ai-fabric-training-bench-04"), HasSubstr("there is no verdict"),
                    HasSubstr("Algorithm that ran: all-gather ring/1ch"), HasSubstr("busbw Gb/s [c]"),
                    HasSubstr("Reference, non-normative: busbw_efficiency >= 90 %"), HasSubstr("Deviation: N = 16"),
                    HasSubstr("Excluded: path ECMP, S 8MiB, seed 3: the run did not end"),
                    HasSubstr("Trials: 3 attempted, 2 included"), HasSubstr("not run: not applicable"),
                    Not(HasSubstr("pass")), Not(HasSubstr("FAIL"))));
}

}  // namespace
}  // namespace railyard::bench
