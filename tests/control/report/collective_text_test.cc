// What people and programs read of collectives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/report/collective_report.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

CollectiveReport sample_collective() {
  CollectiveReport c;
  c.name = "sum";
  c.collective = "all-reduce";
  c.algorithm = "ring";
  c.ranks = {"h1", "h2", "h3", "h4"};
  c.bytes = 1 << 20;
  c.chunk = 65536;
  c.repeats = 3;
  c.iterations = {{0, 120'000}, {121'000, 180'000}, {302'000, 130'000}};
  c.min_ns = 120'000;
  c.median_ns = 130'000;
  c.p99_ns = 175'000;
  c.max_ns = 180'000;
  c.factor = 1.5;
  c.algbw_bps = 64.5e9;
  c.busbw_bps = 96.75e9;
  c.limit_bps = 98e9;
  c.completed = c.verified = true;
  return c;
}

TEST(CollectiveText, NothingIsSaidWithoutAny) { EXPECT_EQ(collective_text({}), ""); }

TEST(CollectiveText, TellsTimesAndRatesAndThatDataAreRight) {
  EXPECT_EQ(collective_text({sample_collective()}),
            R"(Collectives: busbw as in nccl-tests, Gb/s; of limit: share of the link rate left after framing
  name  collective  algorithm  transport ranks      size      min   median      p99      max    algbw    busbw of limit  data
  sum   all-reduce  ring       roce          4      1MiB   120 us   130 us   175 us   180 us    64.50    96.75   98.7 %  verified
)");
  Report r = sample();
  r.collectives.push_back(sample_collective());
  EXPECT_THAT(r.text(), HasSubstr("verified"));
}

TEST(CollectiveText, WhatWentWrongIsNotOverlooked) {
  CollectiveReport stalled = sample_collective();
  stalled.completed = stalled.verified = false;
  stalled.stalled = "iteration 2, step 3 of rank 1 (h2): waiting for rank 0 (h1)";
  stalled.retransmitted_packets = 7;
  EXPECT_THAT(collective_text({stalled}),
              AllOf(HasSubstr("INCOMPLETE"), Not(HasSubstr("verified")), HasSubstr("7 of 0 packets retransmitted"),
                    HasSubstr("STALLED: sum: iteration 2, step 3 of rank 1 (h2): waiting for rank 0 (h1)")));
  CollectiveReport wrong = sample_collective();
  wrong.verified = false;
  wrong.wrong = "64 bytes at rank 1 (h2), iteration 1, from byte 0: without the input of rank 2 (h3)";
  EXPECT_THAT(collective_text({wrong}), AllOf(HasSubstr("WRONG"), HasSubstr("WRONG DATA: sum: 64 bytes at rank 1")));
}

// CNPs and QPs' timeouts are RoCE's; those of PDCs are told of where NICs are.
TEST(CollectiveText, OverUetNothingIsSaidOfWhatOnlyRoceHas) {
  CollectiveReport c = sample_collective();
  c.transport = "uet/rud";
  c.retransmitted_packets = 7;
  c.ecn_marked = 3;
  EXPECT_THAT(collective_text({c}), AllOf(HasSubstr("uet/rud"),
                                          HasSubstr("sum: 7 of 0 packets retransmitted; 3 received "
                                                    "with CE\n"),
                                          Not(HasSubstr("timeout")), Not(HasSubstr("CNP"))));
}

CollectiveReport sample_job() {
  CollectiveReport c = sample_collective();
  c.job = CollectiveReport::Job{4'000'000, 4, 0.625, 0.5, CollectiveReport::Job::Straggler{"rank 3 (h4)", 1.5}, 3.75};
  c.scale_up = CollectiveReport::ScaleUp{96, 6 << 20, 14'000, {500, 600, 700, 800, 900, 1000}};
  return c;
}

TEST(CollectiveText, StragglersIdleGpusAndWhatStaysInHostsAreTold) {
  EXPECT_THAT(collective_text({sample_job()}),
              AllOf(HasSubstr("utilisation 62.5 %, idle 37.5 %"),
                    HasSubstr("sum: straggler rank 3 (h4): 1.50 times the median rank's compute time"),
                    HasSubstr("sum: idle GPUs cost 3.75 per hour (4 GPUs, idle 37.5 % of the time)"),
                    HasSubstr("sum: scale-up networks: 6.29 MB in 96 messages, busiest rank 14 us; first byte "
                              "p50 / p99 / max 500 ns / 700 ns / 1 us")));
  EXPECT_THAT(collective_text({sample_collective()}), AllOf(Not(HasSubstr("median rank")), Not(HasSubstr("scale-up"))));
}

TEST(CollectiveJson, HasJobsAndWhatStaysInHosts) {
  Report r = sample();
  r.collectives = {sample_job(), sample_collective()};
  const auto all = nlohmann::json::parse(r.json())["collectives"];
  const auto& job = all[0]["job"];
  EXPECT_EQ(job["utilisation"], 0.625);
  EXPECT_EQ(job["idle"], 0.375);
  EXPECT_EQ(job["idle_cost_per_hour"], 3.75);
  EXPECT_EQ(job["straggler"]["rank"], "rank 3 (h4)");
  EXPECT_EQ(job["straggler"]["factor"], 1.5);
  EXPECT_EQ(all[0]["scale_up"]["bytes"], 6 << 20);
  EXPECT_EQ(all[0]["scale_up"]["busy_ns"], 14'000);
  EXPECT_EQ(all[0]["scale_up"]["first_octet_latency_ns"]["p99"], 700);
  EXPECT_TRUE(all[1]["job"].is_null());
  EXPECT_TRUE(all[1]["scale_up"].is_null());
}

TEST(CollectiveJson, HasTheNamesThatProgramsRelyOn) {
  Report r = sample();
  r.collectives.push_back(sample_collective());
  r.collectives[0].iterations.push_back({500'000, {}});
  const auto c = nlohmann::json::parse(r.json())["collectives"][0];
  EXPECT_EQ(c["name"], "sum");
  EXPECT_EQ(c["ranks"].size(), 4u);
  EXPECT_EQ(c["iterations"][1]["start_ns"], 121'000);
  EXPECT_EQ(c["iterations"][1]["time_ns"], 180'000);
  EXPECT_TRUE(c["iterations"][3]["time_ns"].is_null());
  EXPECT_EQ(c["time_ns"]["median"], 130'000);
  EXPECT_EQ(c["time_ns"]["p99"], 175'000);
  EXPECT_EQ(c["busbw_factor"], 1.5);
  EXPECT_EQ(c["busbw_bps"], 96.75e9);
  EXPECT_EQ(c["framing_limit_bps"], 98e9);
  EXPECT_EQ(c["verified"], true);
  for (const char* name : {"collective",   "algorithm",   "bytes",          "chunk",
                           "channels",     "repeats",     "algbw_bps",      "share_of_limit",
                           "messages",     "message_ns",  "fabric_bytes",   "completed",   "rank_message_ns",
                           "stalled",      "wrong_bytes", "wrong_messages", "retransmitted_packets",
                           "out_of_order", "ecn_marked",  "cnp_sent",       "cnp_handled"})
    EXPECT_TRUE(c.contains(name)) << name;
}

}  // namespace
}  // namespace railyard::report
