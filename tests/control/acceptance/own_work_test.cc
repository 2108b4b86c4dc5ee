// What a running lab's own collectives and jobs did while they were watched, and how that is judged.
#include "control/acceptance/live/own_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/acceptance/item.h"
#include "control/spec/load.h"

namespace railyard::acceptance {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;

// Iterations of 1 ms each, one right after the other; the last one may go on.
json watched(std::size_t over, bool goes_on, double computed_ns, bool is_job, int buckets = 0) {
  json c{{"name", "c"},
         {"bytes", 1'000'000},
         {"busbw_factor", 1.5},
         {"iterations", json::array()},
         {"job", nullptr},
         {"schedule", nullptr},
         {"computed_ns", nullptr}};
  for (std::size_t i = 0; i < over; ++i) c["iterations"].push_back({{"start_ns", i * 1'000'000}, {"time_ns", 1'000'000}});
  if (goes_on) c["iterations"].push_back({{"start_ns", over * 1'000'000}, {"time_ns", nullptr}});
  if (!is_job) return c;
  c["job"] = {{"utilisation", 0.9}, {"buckets", buckets}, {"compute_ns", 600'000}};
  c["computed_ns"] = computed_ns;
  c["at_seconds"] = static_cast<double>(over) * 1e-3;
  return c;
}

TEST(OwnWork, OnlyIterationsSinceTheFirstLookCount) {
  const Json p = live::progress(watched(4, true, 0, false), watched(9, true, 0, false));
  EXPECT_EQ(p["iterations"], 5);
  EXPECT_EQ(p["median_ns"], 1e6);
  EXPECT_DOUBLE_EQ(p["busbw_bps"].get<double>(), 12e9) << "1 MB x 1.5 in 1 ms";
  EXPECT_TRUE(p["utilisation"].is_null());
  EXPECT_EQ(live::progress(watched(4, true, 0, false), watched(4, true, 0, false))["iterations"], 0);
}

TEST(OwnWork, TheUtilisationIsThatOfTheTimeThatWasWatched) {
  // 4 ms with 0.4 ms of computing each, then 5 ms with 0.7.
  for (const bool was_running : {true, false}) {
    const Json p = live::progress(watched(4, was_running, 1.6e6, true), watched(9, true, 5.1e6, true));
    EXPECT_EQ(p["iterations"], 5);
    EXPECT_NEAR(p["utilisation"].get<double>(), 0.7, 1e-9);
    EXPECT_TRUE(p["busbw_bps"].is_null());
  }
  const Json forward = live::progress(watched(4, true, 0, true, 1), watched(9, true, 0, true, 1));
  EXPECT_NEAR(forward["utilisation"].get<double>(), 0.6, 1e-9) << "each step computes for 0.6 ms of 1";
}

// An attempt of agents begins with no iterations.
TEST(OwnWork, AnotherAttemptCountsFromItsBeginning) {
  json before = watched(5, false, 0, false), after = watched(3, false, 0, false);
  before["attempt"] = 1;
  after["attempt"] = 2;
  EXPECT_EQ(live::progress(before, after)["iterations"], 3);
}

TEST(OwnWork, TheReferenceIsThatOfTheCollectiveAlone) {
  const spec::Lab lab = spec::parse(
      "name: two\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
      "collectives: [{ name: a, collective: all-reduce, size: 1MiB, repeats: 1000 },\n"
      "  { name: b, collective: all-reduce, size: 1MiB, repeats: 1000 }]\n",
      "two.yaml");
  const auto alone = live::reference_of(lab, "a", {}), beside = live::reference_of(lab, "a", {"b"});
  ASSERT_TRUE(alone && beside);
  EXPECT_GT(beside->time_ns, 1.5 * alone->time_ns) << "they share the NICs";
  EXPECT_FALSE(live::reference_of(lab, "c", {}));
}

TEST(OwnWork, ALabThatGoesOnHasNotFailedToComplete) {
  const auto report = [](const char* stalled) {
    return Json{{"collectives", Json::array({{{"stalled", stalled}}})},
                {"verdicts", Json::array({{{"name", "completion"}, {"verdict", "fail"}, {"text", "0 of 1 collective completed"}},
                                          {{"name", "data"}, {"verdict", "fail"}, {"text", "wrong"}}})}};
  };
  const Json going = live::still_running(report("iteration 7, step 3 of 9: waiting for rank 3 (h4)"));
  EXPECT_EQ(going["verdicts"][0]["verdict"], "open");
  EXPECT_EQ(going["verdicts"][1]["verdict"], "fail");
  const Json failed = live::still_running(report("iteration 7; the QP of rank 1 to rank 2 failed at 3 ms: retry exceeded"));
  EXPECT_EQ(failed["verdicts"][0]["verdict"], "fail");
}

Subject subject() {
  return live_subject_of(spec::parse("name: racks\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n", "racks.yaml"),
                         {}, {});
}

Json measured(const char* name, double median_ns, double reference_ns) {
  return {{"name", name},          {"is_job", false},    {"agents", false},
          {"ranks", 4},            {"how", "started"},   {"why", ""},
          {"failure", ""},         {"beside", Json::array()}, {"reference_ns", reference_ns},
          {"computed", 0.0},       {"median_ns", median_ns},  {"busbw_bps", 9e9},
          {"utilisation", nullptr}, {"iterations", 5}};
}

Json job(double utilisation, double computed) {
  Json j = measured("train", 5e6, 5e6);
  j["is_job"] = true;
  j["utilisation"] = utilisation;
  j["computed"] = computed;
  return j;
}

Finding judged(const Item& item, std::vector<Json> collectives) {
  Runs runs;
  runs[ProbeKind::kOwnCollectives].report["collectives"] = std::move(collectives);
  return judge(item, subject(), runs);
}

TEST(OwnCollectives, TheOneThatIsTooSlowComesFirst) {
  const Finding f = judged(list::kOwnCollectives, {measured("a", 1.02e6, 1e6), measured("b", 1.3e6, 1e6)});
  EXPECT_EQ(f.answer, Answer::kFail);
  EXPECT_THAT(f.found, HasSubstr("b: busbw 9 Gb/s in 1.30 ms, 5 iterations, 23.1 % below the reference"));
  EXPECT_THAT(f.evidence, Contains(HasSubstr("a: busbw 9 Gb/s in 1.02 ms")));
  EXPECT_EQ(judged(list::kOwnCollectives, {measured("a", 1.02e6, 1e6)}).answer, Answer::kPass);
}

TEST(OwnCollectives, WhatShareTheNetworkWarns) {
  Json beside = measured("b", 1.3e6, 1e6);
  beside["beside"] = {"incast"};
  const Finding f = judged(list::kOwnCollectives, {beside});
  EXPECT_EQ(f.answer, Answer::kWarn);
  EXPECT_THAT(f.evidence, Contains(HasSubstr("b shared the network with incast")));
}

TEST(OwnCollectives, WithoutAnyOfItsOwnTheLineIsSkipped) {
  const Finding none = judged(list::kOwnCollectives, {job(0.8, 0.8)});
  EXPECT_EQ(none.answer, Answer::kNotRun);
  EXPECT_THAT(none.found, HasSubstr("skipped: the lab has no `collectives:`"));
  EXPECT_THAT(judged(list::kOwnJobs, {measured("a", 1e6, 1e6)}).found, HasSubstr("skipped: the lab has no jobs"));
}

TEST(OwnCollectives, OneThatFailedFails) {
  Json failed = measured("a", 1e6, 1e6);
  failed["failure"] = "it has failed: the QP of rank 1 to rank 2 failed at 3 ms";
  EXPECT_EQ(judged(list::kOwnCollectives, {failed}).answer, Answer::kFail);
}

TEST(OwnJobs, BelowHalfWarnsAndBelowTheBestFails) {
  EXPECT_EQ(judged(list::kOwnJobs, {job(0.75, 0.78)}).answer, Answer::kPass);
  const Finding low = judged(list::kOwnJobs, {job(0.45, 0.46)});
  EXPECT_EQ(low.answer, Answer::kWarn) << "a perfect network is as bad";
  EXPECT_THAT(low.found, HasSubstr("utilisation 45.0 %, 46.0 % on a perfect network"));
  EXPECT_EQ(judged(list::kOwnJobs, {job(0.6, 0.8)}).answer, Answer::kFail);
}

}  // namespace
}  // namespace railyard::acceptance
