// A result as a page.
#include "control/bench/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/bench/sample_result.h"

namespace railyard::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(BenchPage, HasTheMainFigureOfEachClauseInItsOverview) {
  EXPECT_THAT(page(sample_result()),
              AllOf(HasSubstr("<a href=\"#clause-T9.3\">T9.3</a>"), HasSubstr("busbw: 36.36 Gb/s"), HasSubstr("12.9 %"),
                    HasSubstr("2 of 3"), HasSubstr("<a href=\"#clause-T10.2\">T10.2</a>")));
}

TEST(BenchPage, EveryKpiHasItsUnitObservationPointAndSpread) {
  const std::string html = page(sample_result());
  for (const Kpi& k : sample_result().clauses[0].clause->kpis)
    EXPECT_THAT(html, HasSubstr(k.name + " " + k.unit + " [" + static_cast<char>(k.observed) + "]")) << k.name;
  EXPECT_THAT(html, HasSubstr("CV 12.9 %"));
}

TEST(BenchPage, HasDisclosuresDeviationsReferencesAndExcludedTrials) {
  EXPECT_THAT(page(sample_result()),
              AllOf(HasSubstr("Percentiles are of iteration times"), HasSubstr("<b>Deviations from the draft</b>"),
                    HasSubstr("N = 16 at 100 Gb/s"), HasSubstr("Reference values of the draft, annotations only"),
                    HasSubstr("busbw_efficiency: &gt;= 90 % within a pod"), HasSubstr("seed 3: the run did not end"),
                    HasSubstr("Algorithm that ran: all-gather ring/1ch"), HasSubstr("the platform is software")));
}

TEST(BenchPage, NamesWhatDidNotRunAndWhy) {
  EXPECT_THAT(page(sample_result()), HasSubstr("Not run: not applicable: no accelerators."));
}

TEST(BenchPage, HasNoVerdictAndNothingFromOutside) {
  EXPECT_THAT(page(sample_result()),
              AllOf(HasSubstr("this page has no verdict"), Not(HasSubstr("class=\"pill")), Not(HasSubstr("★")), Not(HasSubstr("http")),
                    Not(HasSubstr("src=")), Not(HasSubstr("<script"))));
}

// Three cases of a clause of two columns and two loads.
TEST(BenchPage, ColumnsStandSideBySide) {
  Result r;
  ClauseResult& c = r.clauses.emplace_back();
  c.clause = clauses({"T6.2"}).front();
  c.plan.clause = c.clause;
  for (const char* load : {"idle", "half"})
    for (const char* column : {"roce/gbn/ecmp", "uet/rud/spray"}) {
      Case& x = c.plan.cases.emplace_back();
      x.params = {{"column", column}, {"message", "4KB"}, {"load", load}};
      CaseResult& one = c.cases.emplace_back();
      one.index = c.plan.cases.size() - 1;
      one.attempted = 2;
      one.values.resize(c.clause->kpis.size());
      for (Value& v : one.values) v = {1234567, {1234567, 1234567}, 2, false};
    }
  const std::string html = page(r);
  EXPECT_THAT(html, AllOf(HasSubstr("<th colspan=\"3\">roce/gbn/ecmp</th><th colspan=\"3\">uet/rud/spray</th>"),
                          HasSubstr("message 4KB, load idle"), HasSubstr("message 4KB, load half"), HasSubstr("1,234,567"),
                          HasSubstr("of 4 cases</summary>")));
}

}  // namespace
}  // namespace railyard::bench
