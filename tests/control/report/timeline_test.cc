// Timelines as text, JSON and a page.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/html/page.h"
#include "control/report/html/sections.h"
#include "control/report/timeline_json.h"
#include "control/report/timeline_report.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two ranks: one computes 6 ms of 10 and sends for 2, the other waits and computes 2.
TimelineReport two_ranks() {
  using Part = TimelineReport::Part;
  TimelineReport t;
  t.names = {"h1", "h<2"};
  t.ranks.resize(2);
  static_cast<TimelineReport::Shares&>(t.ranks[0]) = {0.6, 0.2, 0.2};
  static_cast<TimelineReport::Shares&>(t.ranks[1]) = {0.2, 0.2, 0.6};
  t.ranks[1].waits_for = "rank 0 (h1)";
  t.ranks[1].waits_ns = 6'000'000;
  t.all = {0.4, 0.2, 0.4};
  t.repeats = {{.repeat = 1, .compute_ns = {6'000'000, 2'000'000}, .exposed_ns = {2'000'000, 2'000'000}, .idle_ns = {2'000'000, 6'000'000}}};
  t.path = {.repeat = 1, .ns = 10'000'000, .compute_ns = 8'000'000, .message_ns = 2'000'000};
  t.path.ranks = {{0, 6'000'000}, {1, 2'000'000}};
  t.path.hops = {{.from = 0, .to = 1, .messages = 48, .bytes = 24'000'000, .ns = 2'000'000, .links = {{"leaf1:2", 0.2}, {"h1:1", 0.19}}}};
  t.picture = {std::vector<Part>(TimelineReport::kParts, Part::kCompute), std::vector<Part>(TimelineReport::kParts, Part::kIdle)};
  t.picture[1][300] = Part::kExposed;
  return t;
}

TEST(TimelineText, SaysWhereTheTimeWentAndWhatWasWaitedFor) {
  EXPECT_EQ(timeline_text("job", two_ranks()),
            "  job: time of ranks over 1 iteration: compute 40.0 %, exposed communication 20.0 %, idle 40.0 %\n"
            "    rank     compute  communication  idle    waits longest for\n"
            "    0 (h1)   60.0 %   20.0 %         20.0 %  -\n"
            "    1 (h<2)  20.0 %   20.0 %         60.0 %  rank 0 (h1), 6 ms\n"
            "  job: critical path of iteration 1, 10 ms: compute 8 ms (80.0 %), messages 2 ms (20.0 %)\n"
            "    6 ms of compute at rank 0 (h1)\n"
            "    2 ms of compute at rank 1 (h<2)\n"
            "    2 ms of messages and acknowledgements from rank 0 (h1) to rank 1 (h<2): 48, 24 MB; busiest links: leaf1:2 20.0 %, h1:1 19.0 %\n");
}

TEST(TimelineText, OfManyRanksNamesTheMostIdle) {
  TimelineReport t = two_ranks();
  t.ranks.resize(40, t.ranks[0]);
  t.names.resize(40, "h9");
  const std::string text = timeline_text("job", t);
  EXPECT_LT(text.find("1 (h<2)"), text.find("0 (h1)"));
  EXPECT_THAT(text, HasSubstr("and 24 more in report.json"));
}

TEST(TimelineJson, HasRanksIterationsAndThePath) {
  const auto j = timeline_json(two_ranks());
  EXPECT_EQ(j["ranks"][1]["idle"], 0.6);
  EXPECT_EQ(j["ranks"][0]["waits_for"], nullptr);
  EXPECT_EQ(j["iterations"][0]["idle_ns"][1], 6'000'000);
  EXPECT_EQ(j["critical_path"]["messages"][0]["links"][0]["port"], "leaf1:2");
}

TEST(TimelinePage, DrawsARowForEachRank) {
  Report r = sample();
  r.collectives.emplace_back();
  r.collectives.back().name = "job";
  r.collectives.back().timeline = two_ranks();
  const std::string page = html(r);
  EXPECT_THAT(page, HasSubstr("id=\"timelines\""));
  EXPECT_THAT(page, HasSubstr("<path class=\"k\" d=\"M0 2h600v10h-600z\"/>"));
  EXPECT_THAT(page, HasSubstr("<path class=\"x\" d=\"M300 16h1v10h-1z\"/>"));
  EXPECT_THAT(page, HasSubstr("h&lt;2"));
  EXPECT_THAT(timelines_section(sample()), "");
  // Bounded for any number of ranks.
  TimelineReport& t = *r.collectives.back().timeline;
  t.ranks.resize(5000, t.ranks[0]);
  t.names.resize(5000, "h9");
  EXPECT_LT(timelines_section(r).size(), 200'000u);
}

}  // namespace
}  // namespace railyard::report
