// Collectives from the command line: their report, and the exit code when one does not come to its end.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class CollectivesRun : public CommandLine {
 protected:
  static std::vector<std::string> lab(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", topology("scenarios/allreduce-rails.yaml")});
    return more;
  }
};

TEST_F(CollectivesRun, AreReportedWithTheirData) {
  const Outcome o = railyard(lab({"--json"}));
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  const auto report = nlohmann::json::parse(o.out);
  ASSERT_EQ(report["collectives"].size(), 4u);
  EXPECT_EQ(report["collectives"][1]["verified"], true);
  EXPECT_EQ(report["collectives"][1]["ranks"][2], "h3:2");
}

TEST_F(CollectivesRun, OneThatDoesNotCompleteFailsTheRun) {
  const Outcome o = railyard(lab({"--set", "faults=[{ on: \"h3:2\", at: 500us, down: true }]"}));
  EXPECT_EQ(o.exit_code, kUnverified);
  EXPECT_THAT(o.out, HasSubstr("STALLED: rail2: iteration 4, step "));
}

}  // namespace
}  // namespace railyard::tools
