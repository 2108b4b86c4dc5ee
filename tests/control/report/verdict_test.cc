#include "control/report/verdict.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/html/page.h"
#include "control/report/summary.h"
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

TEST(Verdicts, LatencyIsJudgedOnlyWithABudget) {
  Report r = sample();  // p50 2 us, p99 250 us
  EXPECT_EQ(named(r, "latency").name, "");
  EXPECT_EQ(is_within(r.budgets, r.flows[0].latency_ns), std::nullopt);
  r.budgets.scale_out = 10_us;
  EXPECT_EQ(named(r, "latency").answer, Answer::kFail);
  EXPECT_EQ(named(r, "latency").text, "worst p99 is 250 us, budget 10 us: in/h2->h1; 2 of 2 flows over budget");
  r.budgets.percentile = 5000;
  EXPECT_EQ(named(r, "latency").answer, Answer::kPass);
  r.budgets.percentile = 9999;
  EXPECT_THAT(named(r, "latency").text, HasSubstr("p99.99 is 301 us"));
  r.budgets.scale_out = 301_us;
  EXPECT_EQ(named(r, "latency").answer, Answer::kPass) << "at the budget is within it";
  r.flows.clear();
  EXPECT_EQ(named(r, "latency").answer, Answer::kOpen);
}

TEST(Verdicts, AnInterruptedRunFails) {
  Report r = sample();
  EXPECT_EQ(named(r, "interrupted").text, "");
  r.run.interrupted = true;
  EXPECT_EQ(named(r, "interrupted").answer, Answer::kFail);
  EXPECT_THAT(named(r, "interrupted").text, HasSubstr("a signal ended the run early, at "));
}

TEST(Verdicts, ScaleUpNetworksHaveTheirOwnBudget) {
  Report r = sample();
  CollectiveReport c;
  c.name = "sum";
  c.scale_up = CollectiveReport::ScaleUp{1, 8, 1, {500, 600, 1000, 1100, 1200, 1300}};
  r.collectives = {c};
  EXPECT_EQ(named(r, "scale-up-latency").name, "") << "there is no budget";
  r.budgets.scale_up = 1_us;
  EXPECT_EQ(named(r, "scale-up-latency").answer, Answer::kPass);
  EXPECT_EQ(named(r, "scale-up-latency").text, "worst first-byte latency p99 is 1 us, budget 1 us: sum");
  r.budgets.percentile = 9990;
  EXPECT_EQ(named(r, "scale-up-latency").answer, Answer::kFail);
  r.collectives.clear();
  EXPECT_EQ(named(r, "scale-up-latency").name, "") << "there is no such network";
}

TEST(Verdicts, ALosslessClassLosesNothing) {
  Report r = sample();
  EXPECT_EQ(named(r, "lossless").answer, Answer::kPass);
  r.lossless_drops->to_faults = 12;
  EXPECT_EQ(named(r, "lossless").answer, Answer::kPass);
  EXPECT_THAT(named(r, "lossless").text, HasSubstr("not counted: 12 frames lost to faults and outages"));
  r.lossless_drops->otherwise = 3;
  EXPECT_EQ(
      named(r, "lossless").text,
      "0 frames dropped in lossless classes, allowed 0; not counted: 12 frames lost to faults and outages, 3 frames "
      "of other traffic dropped for reasons other than buffers");
  r.lossless_drops->where_lossy = 7;
  EXPECT_THAT(named(r, "lossless").text, HasSubstr("7 frames of other traffic dropped where their class is lossy, 3 "));
  r.lossless_drops->where_lossy = 0;
  r.lossless_drops->otherwise = 0;
  r.lossless_drops->for_room = 7;
  EXPECT_EQ(named(r, "lossless").answer, Answer::kFail);
  EXPECT_THAT(named(r, "lossless").text, testing::StartsWith("7 frames dropped in lossless classes, allowed 0: "));
  r.lossless_drops->rdma = 1200;
  r.lossless_drops->places = {{"spine1:3", 3, DropReason::kEgressFull, 1200},
                              {"leaf1:1", 3, DropReason::kHeadroomFull, 7}};
  EXPECT_EQ(
      named(r, "lossless").text,
      "1,200 RDMA frames and 7 other frames dropped in lossless classes, allowed 0: egress_full 1,200 at spine1:3 "
      "class 3, headroom_full 7 at leaf1:1 class 3; not counted: 12 frames lost to faults and outages");
  r.lossless_drops.reset();
  EXPECT_EQ(named(r, "lossless").answer, Answer::kOpen);
}

TEST(Verdicts, RoceInALossyClassIsANote) {
  Report r = sample();
  r.lossless_drops = LosslessDrops{};
  r.lossless_drops->lossy_roce = "class 3 at leaf1";
  r.lossless_drops->dropped_lossy = 1234;
  EXPECT_EQ(named(r, "lossless").answer, Answer::kNote);
  EXPECT_EQ(named(r, "lossless").text, "RoCE runs in a lossy class (class 3 at leaf1): 1,234 frames dropped");
  EXPECT_THAT(r.text(), HasSubstr("  note  lossless          RoCE runs in a lossy class"));
}

TEST(Verdicts, ADeadlockFailsAndNamesItsCircle) {
  Report r = sample();
  EXPECT_EQ(named(r, "deadlock").answer, Answer::kPass);
  r.watched_for_deadlocks = false;
  EXPECT_EQ(named(r, "deadlock").answer, Answer::kOpen) << "nobody looked";
  r.watched_for_deadlocks = true;
  r.deadlocks = {{{"s1:1 class 3", "s2:1 class 3"}, Instant{} + 5_us, Instant{} + 10_us, std::nullopt}};
  EXPECT_EQ(named(r, "deadlock").answer, Answer::kFail);
  EXPECT_EQ(named(r, "deadlock").text,
            "1 deadlock, allowed 0: s1:1 class 3 -> s2:1 class 3 -> s1:1 class 3, since 5 us");
  r.deadlocks[0].resolved = Instant{} + 20_us;
  EXPECT_EQ(named(r, "deadlock").answer, Answer::kFail) << "nothing moved meanwhile";
  EXPECT_THAT(named(r, "deadlock").text, HasSubstr("; it resolved"));
}

TEST(Verdicts, PausesAreHeldAgainstTheirBudgetsInTheSteadyState) {
  Report r = sample();
  EXPECT_EQ(named(r, "pauses").answer, Answer::kOpen) << "no steady state";
  r.steady_pauses = SteadyPauses{100'000, 1'000'000, 0.1, "h2:1 class 3", 20'000, "leaf1:2 class 3"};
  EXPECT_EQ(named(r, "pauses").answer, Answer::kPass) << "at the budget is within it";
  EXPECT_EQ(
      named(r, "pauses").text,
      "paused 10.0 % of the time, budget 10.0 % at h2:1 class 3; 20,000 XOFFs per second, budget 20,000 at leaf1:2 "
      "class 3 (from 100 us to 1 ms)");
  r.steady_pauses->share = 0.11;
  EXPECT_EQ(named(r, "pauses").answer, Answer::kFail);
  r.budgets.pause_share.reset();
  EXPECT_EQ(named(r, "pauses").answer, Answer::kPass);
  r.steady_pauses->xoff_per_second = 20'001;
  EXPECT_EQ(named(r, "pauses").answer, Answer::kFail);
  r.budgets.xoff_rate.reset();
  EXPECT_EQ(named(r, "pauses").name, "") << "both are off";
}

// Generators have no congestion control: PFC is all that can slow an incast of theirs down.
TEST(Verdicts, PausesOfGeneratorsAreANoteByTheDefaultBudgets) {
  Report r = sample();
  r.lab.generator_flows = 8;
  r.steady_pauses = SteadyPauses{200'000, 2'000'000, 0.808, "h9:1 class 3", 56'667, "leaf1:9 class 3"};
  EXPECT_EQ(named(r, "pauses").answer, Answer::kNote);
  EXPECT_EQ(named(r, "pauses").text,
            "paused 80.8 % of the time at h9:1 class 3; 56,667 XOFFs per second at leaf1:9 class 3 (from 200 us to 2 "
            "ms); only "
            "generators send, without congestion control: run.budgets.pause-share and xoff-rate set a limit");
  r.steady_pauses->share = 0.05;
  r.steady_pauses->xoff_per_second = 10;
  EXPECT_EQ(named(r, "pauses").answer, Answer::kPass);
  r.budgets.pause_share = Ratio{1, 50};
  EXPECT_EQ(named(r, "pauses").answer, Answer::kFail) << "a budget of one's own is judged";
  r.budgets = {};
  r.steady_pauses->share = 0.808;
  r.lab.roce_flows = 1;
  EXPECT_EQ(named(r, "pauses").answer, Answer::kFail) << "RDMA has congestion control";
  r.lab.roce_flows = 0;
  r.lab.attached_nics = 1;
  EXPECT_EQ(named(r, "pauses").answer, Answer::kFail) << "an attached host may have it";
}

TEST(Verdicts, MarksComeBeforePauses) {
  Report r = sample();
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kPass) << "no queue crossed XOFF";
  ClassCounters& c = r.ports[0].counters.classes[3];
  c.first_xoff = Instant{} + 50_us;
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kFail) << "never marked";
  c.first_ce = Instant{} + 20_us;
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kPass);
  c.first_ce = Instant{} + 80_us;
  EXPECT_EQ(named(r, "ce-before-xoff").answer, Answer::kFail);
  EXPECT_THAT(named(r, "ce-before-xoff").text,
              HasSubstr("0 of 1 congested queue marked CE before XOFF, expected all; 1 marked after XOFF"));
}

TEST(Verdicts, FlowsWithAnEndAreComplete) {
  Report r = sample();
  EXPECT_EQ(named(r, "completion").answer, Answer::kFail);
  EXPECT_THAT(named(r, "completion").text, HasSubstr("1 of 2 finite flows completed"));
  r.traffic[0].ended_with_loss = 1;
  r.traffic[0].lost_of_these = 100;
  EXPECT_EQ(named(r, "completion").answer, Answer::kPass) << "UC and UUD may lose";
  EXPECT_THAT(named(r, "completion").text,
              HasSubstr("; 1 flow over UC or UUD ended with 100 lost packets (allowed: unreliable)"));
  r.traffic[0].ended_with_loss = 0;
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

CollectiveReport all_reduce() {
  CollectiveReport c;
  c.name = "rail1";
  c.collective = "all-reduce";
  c.algorithm = "ring";
  c.ranks = {"h1:1", "h2:1"};
  c.bytes = 1 << 20;
  c.iterations = {{0, 100'000}, {100'000, 120'000}};
  c.min_ns = c.median_ns = 100'000;
  c.max_ns = 120'000;
  c.algbw_bps = c.busbw_bps = 80e9;
  c.limit_bps = 97e9;
  c.completed = c.verified = true;
  c.retransmitted_packets = 7;
  return c;
}

TEST(Verdicts, CollectivesCountToo) {
  Report r = sample();
  r.traffic.clear();
  r.flows.clear();
  r.collectives = {all_reduce()};
  EXPECT_EQ(named(r, "completion").answer, Answer::kPass);
  EXPECT_EQ(named(r, "completion").text, "1 of 1 collective completed");
  EXPECT_EQ(named(r, "data").answer, Answer::kPass);
  r.collectives[0].completed = r.collectives[0].verified = false;
  EXPECT_EQ(named(r, "completion").answer, Answer::kFail);
  r.collectives[0].completed = true;
  r.collectives[0].wrong = "4 octets at h2:1";
  EXPECT_EQ(named(r, "data").answer, Answer::kFail);
  EXPECT_THAT(named(r, "data").text, testing::HasSubstr("4 octets at h2:1"));
}

TEST(Verdicts, CollectivesAreInTheSummaryAndOnThePage) {
  Report r = sample();
  r.collectives = {all_reduce()};
  std::map<std::string, double> figures;
  for (const Figure& f : summary(r)) figures[f.name] = f.value;
  EXPECT_EQ(figures.at("busbw"), 80e9);
  EXPECT_EQ(figures.at("collective_time"), 100'000);
  EXPECT_EQ(figures.at("retransmitted"), 7);
  const std::string page = html(r);
  EXPECT_THAT(page, testing::HasSubstr("<section id=\"collectives\">"));
  EXPECT_THAT(page, testing::HasSubstr("Iterations over time"));
  r.collectives[0].name = "<b>";
  r.collectives[0].stalled = "<i>";
  EXPECT_THAT(html(r), testing::Not(testing::HasSubstr("<i>")));
}

}  // namespace
}  // namespace railyard::report
