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
    EXPECT_THAT(o.out, HasSubstr("0 of 1 finite flow completed; 1 failed")) << transport;
  }
}

TEST_F(FlowsRun, InALabThatIsThereToShowItNothingHasFailedUnlessItsFixIsSet) {
  const std::string diagnosis =
      "diagnosis: { signature: [\"failed_flows > 0\", \"drops(link_down) at h2 >= 0\"], symptom: It ends., cause: The link is down., fix: Mend the link., set: \"traffic.t.bytes=9MB\" }\n";
  EXPECT_EQ(run_cut("roce", diagnosis).exit_code, kOk);
  EXPECT_EQ(run_cut("roce", diagnosis, {"--set", "traffic.t.bytes=9MB"}).exit_code, kUnverified)
      << "the fix is set, and fixes nothing";
  const std::string other =
      "diagnosis: { signature: \"drops(headroom_full) > 0\", symptom: It ends., cause: Headroom., fix: More of it. }\n";
  const Outcome undiagnosed = run_cut("roce", other);
  EXPECT_EQ(undiagnosed.exit_code, kUnverified) << "its signature is not there";
  EXPECT_THAT(undiagnosed.out, testing::Not(HasSubstr("Diagnosis")));
}

TEST_F(FlowsRun, AnExpectationMayExpectTheFailure) {
  EXPECT_EQ(run_cut("roce", "", {"--expect", "failed_flows == 1"}).exit_code, kOk);
  const Outcome missed = run_cut("roce", "", {"--expect", "failed_flows == 0"});
  EXPECT_EQ(missed.exit_code, kMissed);
  EXPECT_THAT(missed.err, HasSubstr("railyard: expectation missed: found 1 (t/h1->h2), expected failed_flows == 0"));
}

TEST_F(FlowsRun, AComparisonSaysWhatHasFailed) {
  run_cut("roce");
  const Outcome o = railyard({"compare-transports", "cut.yaml", "--column", "roce/gbn", "--column", "uet/rud"});
  EXPECT_EQ(o.exit_code, kUnverified);
  EXPECT_THAT(o.out, HasSubstr("FAILED roce/gbn: seed 1: 0 of 1 finite flow completed; 1 failed"));
}

}  // namespace
}  // namespace railyard::tools
