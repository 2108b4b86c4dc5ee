// Phases of an iteration, and the instants that they have in a run.
#include "control/bench/phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::bench {
namespace {

// Iterations of 1,000 ns, of which ranks compute for 400, with gaps of 100.
ReportJson job() {
  ReportJson c{{"name", "all"}, {"job", {{"compute_ns", 400}}}, {"iterations", ReportJson::array()}};
  for (int i = 0; i < 4; ++i) c["iterations"].push_back({{"start_ns", 1100 * i}, {"time_ns", 1000}});
  ReportJson report;
  report["collectives"] = ReportJson::array({c});
  return report;
}

std::optional<std::string> set(const char* phase, std::size_t iteration = 2) {
  return Moment{"faults.failure.at", iteration, *parse_phase(phase)}.set(job());
}

TEST(Phase, EachPartHasItsInstants) {
  EXPECT_EQ(set("computing 1/2"), "faults.failure.at=1300ns");
  EXPECT_EQ(set("communication 0"), "faults.failure.at=1500ns");
  EXPECT_EQ(set("communication 50%"), "faults.failure.at=1800ns");
  EXPECT_EQ(set("gap 1/2"), "faults.failure.at=2150ns");
}

TEST(Phase, AnIterationThatDidNotCompleteHasNone) {
  EXPECT_FALSE(set("communication 1/2", 5));
  EXPECT_FALSE(set("gap 1/2", 4)) << "nothing follows the last one";
  ReportJson report = job();
  report["collectives"][0]["job"] = nullptr;
  EXPECT_FALSE((Moment{"faults.f.at", 2, *parse_phase("computing 1/2")}.set(report))) << "ranks do not compute";
}

TEST(Phase, TheFailureItselfIsTakenAway) {
  EXPECT_EQ((Moment{"faults.failure.at", 2, {}}.without()), "faults.failure=");
}

TEST(Phase, MistakesAreNamed) {
  EXPECT_THAT(parse_phase("later 1/2").error(), testing::HasSubstr("computing, communication or gap"));
  EXPECT_THAT(parse_phase("gap").error(), testing::HasSubstr("'gap'"));
  EXPECT_THAT(parse_phase("gap 3/2").error(), testing::HasSubstr("gap 3/2"));
}

}  // namespace
}  // namespace railyard::bench
