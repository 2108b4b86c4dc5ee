#include "control/report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using namespace literals;
using testing::HasSubstr;
using Answer = Verdict::Answer;

Verdict named(const Report& r, const std::string& name) {
  for (const Verdict& v : r.verdicts())
    if (v.name == name) return v;
  return {};
}

TEST(Verdicts, LatencyIsHeldAgainstThePercentileThatIsAsked) {
  Report r = sample();  // p50 2 us, p99 250 us
  EXPECT_EQ(named(r, "latency").answer, Answer::kFail);
  EXPECT_EQ(named(r, "latency").text, "p99 of 0 of 2 flows is within 10 us; the worst is in/h2->h1: 250 us");
  r.budgets.percentile = 5000;
  EXPECT_EQ(named(r, "latency").answer, Answer::kPass);
  r.budgets.percentile = 9999;
  EXPECT_THAT(named(r, "latency").text, HasSubstr("p99.99 of 0"));
  r.budgets.scale_out = 301_us;
  EXPECT_EQ(named(r, "latency").answer, Answer::kPass) << "at the budget is within it";
  r.flows.clear();
  EXPECT_EQ(named(r, "latency").answer, Answer::kOpen);
}

TEST(Verdicts, ALosslessClassLosesNothing) {
  Report r = sample();
  EXPECT_EQ(named(r, "lossless").answer, Answer::kPass);
  r.lossless_drops = 1;
  EXPECT_EQ(named(r, "lossless").answer, Answer::kFail);
  r.lossless_drops.reset();
  EXPECT_EQ(named(r, "lossless").answer, Answer::kOpen);
}

TEST(Verdicts, MarksComeBeforePauses) {
  Report r = sample();
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kPass) << "nobody was paused";
  ClassCounters& c = r.ports[0].counters.classes[3];
  c.first_xoff = Instant{} + 50_us;
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kFail) << "never marked";
  c.first_ce = Instant{} + 20_us;
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kPass);
  c.first_ce = Instant{} + 80_us;
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kFail);
  EXPECT_THAT(named(r, "ce-before-xoff").text, HasSubstr("CE came first at 0, XOFF at 1"));
}

TEST(Verdicts, FlowsWithAnEndAreComplete) {
  Report r = sample();
  EXPECT_EQ(named(r, "completion").answer, Answer::kFail);
  EXPECT_THAT(named(r, "completion").text, HasSubstr("1 of 2 flows"));
  r.traffic[0].complete = 2;
  EXPECT_EQ(named(r, "completion").answer, Answer::kPass);
  r.traffic[0].failed = 1;
  EXPECT_EQ(named(r, "completion").answer, Answer::kFail);
}

TEST(Verdicts, DataIsWhatWasSentAndTheBooksBalance) {
  Report r = sample();
  EXPECT_EQ(named(r, "data").answer, Answer::kPass);
  r.flows[0].corrupted = 1;
  EXPECT_EQ(named(r, "data").answer, Answer::kFail);
  r.flows[0].corrupted = 0;
  r.audit.balanced = false;
  EXPECT_EQ(named(r, "data").answer, Answer::kFail);
}

}  // namespace
}  // namespace railyard::report
