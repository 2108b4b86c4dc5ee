// What a run failed to carry, and which conditions expect that.
#include "control/report/failures.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/judge.h"
#include "control/report/report.h"
#include "control/spec/load.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using Kind = Failure::Kind;

// bulk/h1->h2 fails, bulk/h1->h3 completes, other/h1->h2 does not; the collective sum does not complete.
Report some_fail() {
  Report r = sample();
  r.deadlocks.clear();
  r.traffic = {TrafficReport{}, TrafficReport{}};
  r.traffic[0].name = "bulk";
  r.traffic[1].name = "other";
  FlowReport failed;
  failed.name = "bulk/h1->h2";
  failed.asked_bytes = 1000;
  failed.roce.emplace().completion_errors = 1;
  FlowReport done = failed;
  done.name = "bulk/h1->h3";
  done.roce->completion_errors = 0;
  done.fct_ns = 5;
  FlowReport late = done;
  late.name = "other/h1->h2";
  late.traffic = 1;
  late.fct_ns.reset();
  r.flows = {failed, done, late};
  CollectiveReport sum;
  sum.name = "sum";
  sum.iterations = {{0, std::nullopt}};
  r.collectives = {sum};
  return r;
}

spec::Lab the_lab(const std::string& more) {
  return spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "traffic: [ { name: bulk, from: h1, to: [h2, h3], bytes: 1MB }, { name: other, from: h1, to: h2, bytes: 1MB } ]\n"
      "collectives: [ { name: sum, size: 1MiB } ]\n" +
          more,
      "x.yaml");
}

std::string unexpected(Report r, const std::string& condition) {
  judge(r, the_lab("expect: \"" + condition + "\"\n"));
  EXPECT_TRUE(r.expectations[0].met) << condition;
  return failures_text(unexpected_failures(r));
}

TEST(Failures, AreWhatTheVerdictsCompletionDataAndDeadlockFailFor) {
  Report r = some_fail();
  EXPECT_EQ(failures_text(failures(r)),
            "flow bulk/h1->h2 failed; flow other/h1->h2 did not complete; collective sum did not complete");
  r.flows[1].corrupted = 2;
  r.collectives[0].wrong = "10 bytes";
  EXPECT_EQ(
      failures_text(failures(r)),
      "flow bulk/h1->h2 failed; data of flow bulk/h1->h3 arrived corrupted; flow other/h1->h2 did not complete; and "
      "2 more");
}

TEST(Failures, AFlowThatWasNeverOfferedOrMayLoseIsNone) {
  Report r = some_fail();
  r.collectives.clear();
  r.flows.erase(r.flows.begin());
  r.flows[1].was_offered = false;
  EXPECT_TRUE(failures(r).empty());
  r.flows[1].was_offered = true;
  EXPECT_EQ(failures(r).size(), 1u);
  r.flows[1].ended_with_loss = true;
  EXPECT_TRUE(failures(r).empty()) << "UC, UUD";
  r.flows[1].ended_with_loss = false;
  r.flows[1].asked_bytes = 0;
  EXPECT_TRUE(failures(r).empty()) << "without an end";
}

// A condition covers what it names, and nothing else.
TEST(Failures, AreExpectedByConditionsThatNameThem) {
  const std::string failed = "flow bulk/h1->h2 failed";
  const std::string late = "flow other/h1->h2 did not complete";
  const std::string sum = "collective sum did not complete";
  const struct {
    const char* condition;
    std::string left;
  } kCases[] = {{"failed_flows == 1", late + "; " + sum},
                {"failed_flows of bulk == 1", late + "; " + sum},
                {"failed_flows of bulk/h1->h2 > 0", late + "; " + sum},
                {"failed_flows of other == 0", failed + "; " + late + "; " + sum},
                {"completed < 1", ""},
                {"completed < 100%", ""},
                {"completed of other == 0", failed + "; " + sum},
                {"completed of bulk < 1", late + "; " + sum},
                {"completed of sum == 0", failed + "; " + late},
                {"completed of sum == 0 and completed of other == 0", failed},
                {"missing > 0", sum},
                {"deadlocks == 0", failed + "; " + late + "; " + sum}};
  for (const auto& c : kCases) EXPECT_EQ(unexpected(some_fail(), c.condition), c.left) << c.condition;
}

// One that no failure would meet as well does not ask for it.
TEST(Failures, AConditionThatHoldsWithoutTheFailureDoesNotExpectIt) {
  Report r = some_fail();
  r.flows.resize(1);
  r.collectives.clear();
  for (const char* condition : {"failed_flows >= 0", "failed_flows <= 5", "failed_flows < 2", "failed_flows != 3",
                                "failed_flows >= 0 * drops", "completed <= 1", "completed >= 0", "drops >= 0"})
    EXPECT_EQ(unexpected(r, condition), "flow bulk/h1->h2 failed") << condition;
  for (const char* condition : {"failed_flows == 1", "failed_flows > 0", "failed_flows >= 1", "failed_flows != 0",
                                "drops >= 0 and failed_flows == 1"})
    EXPECT_EQ(unexpected(r, condition), "") << condition;
}

TEST(Failures, AnExpectationThatIsMissedExpectsNothing) {
  Report r = some_fail();
  judge(r, the_lab("expect: [ failed_flows == 2, completed == 0.9 ]\n"));
  EXPECT_EQ(unexpected_failures(r).size(), 3u);
}

// A signature that says nothing of failures excuses none.
TEST(Failures, ADiagnosisExpectsWhatItsSignatureNames) {
  const auto left = [](const std::string& signature) {
    Report r = some_fail();
    judge(r, the_lab("diagnosis: { signature: [" + signature + "], symptom: a, cause: b, fix: c }\n"));
    EXPECT_FALSE(r.evidence.empty());
    return unexpected_failures(r).size();
  };
  EXPECT_EQ(left("drops > 0"), 3u);
  EXPECT_EQ(left("drops > 0, failed_flows of bulk > 0"), 2u);
  EXPECT_EQ(left("completed < 0.5"), 0u);
}

TEST(Failures, DataAndDeadlocksHaveFiguresOfTheirOwn) {
  Report r = some_fail();
  r.flows = {r.flows[1]};
  r.collectives[0].completed = true;
  r.collectives[0].wrong = "10 bytes";
  r.collectives[0].wrong_bytes = 10;
  r.flows[0].corrupted = 2;
  telemetry::DeadlockWatch::Seen deadlock;
  deadlock.ring = {"s1:1 class 3", "s2:1 class 3"};
  r.deadlocks = {deadlock};
  EXPECT_EQ(failures(r).size(), 3u);
  EXPECT_EQ(unexpected(r, "corrupted of bulk == 2"),
            "collective sum has wrong data; queues deadlocked, s1:1 class 3 first");
  EXPECT_EQ(unexpected(r, "wrong_bytes of sum > 0"),
            "data of flow bulk/h1->h3 arrived corrupted; queues deadlocked, s1:1 class 3 first");
  EXPECT_EQ(unexpected(r, "deadlocks == 1"),
            "data of flow bulk/h1->h3 arrived corrupted; collective sum has wrong data");
}

TEST(Failures, AnRpingClientThatFailsIsOne) {
  Report r = sample();
  r.flows.clear();
  r.traffic.clear();
  r.collectives.clear();
  r.deadlocks.clear();
  r.rpings.resize(2);
  r.rpings[0].name = "ping/h1->h2";
  r.rpings[1].name = "ping/h1->h3";
  r.rpings[1].failure = "rejected";
  const auto completion = [&] {
    for (const Verdict& v : r.verdicts())
      if (v.name == "completion") return v;
    return Verdict{};
  };
  EXPECT_EQ(failures_text(failures(r)), "flow ping/h1->h3 failed");
  EXPECT_EQ(completion().answer, Verdict::Answer::kFail);
  EXPECT_EQ(completion().text, "1 of 2 rping clients failed");
  r.rpings[1] = r.rpings[0];
  EXPECT_EQ(failures_text(failures(r)), "");
  EXPECT_NE(completion().answer, Verdict::Answer::kFail);
  r.rpings[1].corrupted = 1;
  EXPECT_EQ(failures_text(failures(r)), "data of flow ping/h1->h2 arrived corrupted");
}

}  // namespace
}  // namespace railyard::report
