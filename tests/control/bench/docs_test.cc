// docs/bench.md has every clause as --clauses prints it, and every function of KPIs.
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/bench/clause_table.h"

namespace railyard::bench {
namespace {

std::string bench_page() {
  std::ifstream in(RAILYARD_SOURCE_DIR "/docs/bench.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(BenchDocs, HaveEveryClause) {
  const std::string docs = bench_page();
  for (const Clause& c : clauses()) EXPECT_THAT(docs, testing::HasSubstr(markdown_row(c) + "\n"));
}

TEST(BenchDocs, HaveEveryFunction) {
  const std::string docs = bench_page();
  for (const KpiFunction& f : kpi_functions())
    EXPECT_THAT(docs, testing::HasSubstr(std::string("| `") + f.name + "` | " + f.meaning + " |\n"));
}

TEST(ClauseTable, CountsWhatRuns) {
  EXPECT_THAT(clause_table(), testing::HasSubstr("T10.2"));
  EXPECT_THAT(clause_table(),
              testing::HasSubstr("32 clauses of draft-calabria-bmwg-ai-fabric-training-bench-04; 31 run"));
}

TEST(ClauseTable, ListsRunsOfAProfile) {
  EXPECT_THAT(run_table(Profile::kCi), testing::HasSubstr("T9.1"));
  EXPECT_THAT(run_table(Profile::kCi), testing::Not(testing::HasSubstr("T10.2")));
}

}  // namespace
}  // namespace railyard::bench
