// Flows from the command line: the exit code when one's QP or PDC fails.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

// Both ways to h2 are gone: the QP, or the PDC, tries for a while and gives up.
class FlowsRun : public CommandLine {
 protected:
  Outcome run_cut(const std::string& transport, const std::string& diagnosis = "",
                  std::vector<std::string> more = {}) {
    write("cut.yaml",
          "name: cut\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
          "hosts: { default: { roce: { ack-timeout: 8, retry-count: 2 }, uet: { rto: 1ms, retries: 2 } } }\n"
          "traffic: [ { name: t, from: h1, to: h2, bytes: 10MB, transport: " +
              transport +
              " } ]\nfaults: [ { name: cut, on: h2, at: 100us, down: true } ]\nrun: { drain: 100ms }\n" + diagnosis);
    more.insert(more.begin(), {"run", "cut.yaml"});
    return railyard(more);
  }
};

TEST_F(FlowsRun, OneWhoseQpOrPdcHasFailedFailsTheRun) {
  for (const char* transport : {"roce", "uet"}) {
    const Outcome o = run_cut(transport);
    EXPECT_EQ(o.exit_code, kUnverified) << transport << o.err;
    EXPECT_THAT(o.out, HasSubstr("0 of 1 flows with an end are complete; 1 have failed")) << transport;
  }
}

TEST_F(FlowsRun, InALabThatIsThereToShowItNothingHasFailedUnlessItsFixIsSet) {
  const std::string diagnosis =
      "diagnosis: { symptom: It ends., cause: The link is down., fix: Mend the link., set: \"traffic.t.bytes=9MB\" }\n";
  EXPECT_EQ(run_cut("roce", diagnosis).exit_code, kOk);
  EXPECT_EQ(run_cut("roce", diagnosis, {"--set", "traffic.t.bytes=9MB"}).exit_code, kUnverified)
      << "the fix is set, and fixes nothing";
}

TEST_F(FlowsRun, AComparisonSaysWhatHasFailed) {
  run_cut("roce");
  const Outcome o = railyard({"compare-transports", "cut.yaml", "--column", "roce/gbn", "--column", "uet/rud"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("FAILED roce/gbn: seed 1: 0 of 1 flows with an end are complete; 1 have failed"));
}

}  // namespace
}  // namespace railyard::tools
