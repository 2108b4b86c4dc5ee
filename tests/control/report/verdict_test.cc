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

TEST(Verdicts, ScaleUpNetworksHaveTheirOwnBudget) {
  Report r = sample();
  EXPECT_EQ(named(r, "scale-up-latency").name, "") << "there is none";
  CollectiveReport c;
  c.name = "sum";
  c.scale_up = CollectiveReport::ScaleUp{1, 8, 1, {500, 600, 1000, 1100, 1200, 1300}};
  r.collectives = {c};
  EXPECT_EQ(named(r, "scale-up-latency").answer, Answer::kPass);
  EXPECT_EQ(named(r, "scale-up-latency").text,
            "p99 of first octets from rank to rank in a host: 1 us at worst (sum); the budget is 1 us");
  r.budgets.percentile = 9990;
  EXPECT_EQ(named(r, "scale-up-latency").answer, Answer::kFail);
}

TEST(Verdicts, ALosslessClassLosesNothing) {
  Report r = sample();
  EXPECT_EQ(named(r, "lossless").answer, Answer::kPass);
  r.lossless_drops->otherwise = 1;
  EXPECT_EQ(named(r, "lossless").answer, Answer::kPass) << "a link that was down is no want of buffer";
  EXPECT_THAT(named(r, "lossless").text, testing::HasSubstr("1 frames for other reasons"));
  r.lossless_drops->for_room = 1;
  EXPECT_EQ(named(r, "lossless").answer, Answer::kFail);
  r.lossless_drops.reset();
  EXPECT_EQ(named(r, "lossless").answer, Answer::kOpen);
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
  EXPECT_THAT(named(r, "ce-before-xoff").text, HasSubstr("1 sent XOFF first"));
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
  EXPECT_EQ(named(r, "completion").text, "1 of 1 collectives are complete");
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
  EXPECT_THAT(page, testing::HasSubstr("Repeats over time"));
  r.collectives[0].name = "<b>";
  r.collectives[0].stalled = "<i>";
  EXPECT_THAT(html(r), testing::Not(testing::HasSubstr("<i>")));
}

}  // namespace
}  // namespace railyard::report
