// Two results are compared only where the draft allows it.
#include "control/bench/compare.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "control/spec/input_error.h"

namespace railyard::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Json = nlohmann::ordered_json;

Json result(double busbw, int b_acc, const char* path = "ECMP") {
  return Json::parse(fmt::format(
      R"({{"schema": "fabric-bench/1", "profile": "ci", "fabric": null, "results": [{{"test": "T9.1", "cases": [{{
        "params": {{"path": "{}"}}, "comparability": {{"N": 16, "b_acc_gbps": {}}},
        "kpi": [{{"name": "busbw", "unit": "Gb/s", "obs": "c", "value": {}}},
                {{"name": "drops", "unit": "frames", "obs": "b", "value": 0}}]}}]}}]}})",
      path, b_acc, busbw));
}

TEST(BenchCompare, CasesThatAgreeHaveAChange) {
  const ResultComparison c = compare(result(80, 100), result(88, 100), "a.json", "b.json");
  ASSERT_EQ(c.cases.size(), 1u);
  EXPECT_NEAR(*c.cases[0].rows[0].change, 0.1, 1e-12);
  EXPECT_FALSE(c.cases[0].rows[1].change) << "nothing to compare 0 with";
  EXPECT_THAT(c.text(), AllOf(HasSubstr("T9.1 path ECMP"), HasSubstr("+10.0 %")));
}

TEST(BenchCompare, CasesThatDifferStandBesideEachOther) {
  const ResultComparison c = compare(result(80, 100), result(380, 400), "a.json", "b.json");
  EXPECT_FALSE(c.cases[0].rows[0].change);
  EXPECT_THAT(c.text(),
              AllOf(HasSubstr("Not comparable: b_acc_gbps: 100 and 400"), HasSubstr("380"), Not(HasSubstr("%"))));
  EXPECT_EQ(c.json()["cases"][0]["comparable"], false);
}

TEST(BenchCompare, CasesOfOneResultOnlyAreNamed) {
  const ResultComparison c = compare(result(80, 100), result(80, 100, "spray"), "a.json", "b.json");
  EXPECT_THAT(c.only_a, testing::ElementsAre("T9.1 path ECMP"));
  EXPECT_THAT(c.only_b, testing::ElementsAre("T9.1 path spray"));
}

TEST(BenchCompare, AnotherVersionIsRefused) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("bench-compare-{}.json", ::getpid());
  std::ofstream(file) << R"({"schema": "fabric-bench/9"})";
  EXPECT_TRUE(is_result(file));
  try {
    static_cast<void>(read_result(file));
    ADD_FAILURE() << "it was read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("found schema 'fabric-bench/9'"), HasSubstr("expected fabric-bench/1")));
  }
  std::filesystem::remove(file);
  EXPECT_FALSE(is_result(file));
}

TEST(BenchCompare, AnIncompleteResultIsRefused) {
  Json cut = result(80, 100);
  cut["results"][0].erase("cases");
  EXPECT_THROW(compare(cut, result(80, 100), "a.json", "b.json"), InputError);
}

}  // namespace
}  // namespace railyard::bench
