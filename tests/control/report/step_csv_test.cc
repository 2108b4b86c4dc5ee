#include "control/report/step_csv.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

TEST(StepCsv, EachRepeatIsARow) {
  Report r;
  CollectiveReport& c = r.collectives.emplace_back();
  c.name = "all, reduce";
  c.bytes = 1000;
  c.factor = 1.5;
  c.iterations = {{.start_ns = 500, .time_ns = 2000}, {.start_ns = 3000, .time_ns = {}}};
  EXPECT_EQ(step_csv(r),
            "collective,transport,step,start_ns,time_ns,algbw_bps,busbw_bps,cumulative_ns\n"
            "\"all, reduce\",roce,1,500,2000,4000000000,6000000000,2000\n"
            "\"all, reduce\",roce,2,3000,,,,\n");
}

TEST(StepCsv, StepsThatComputeHaveATimeAndNoRate) {
  Report r;
  CollectiveReport& c = r.collectives.emplace_back();
  c.name = "step";
  c.transport = "uet/rud";
  c.job = {700, 1, 0, {}, {}, {}};
  c.iterations = {{.start_ns = 0, .time_ns = 700}, {.start_ns = 700, .time_ns = 800}};
  EXPECT_EQ(step_csv(r),
            "collective,transport,step,start_ns,time_ns,algbw_bps,busbw_bps,cumulative_ns\n"
            "step,uet/rud,1,0,700,,,700\nstep,uet/rud,2,700,800,,,1500\n");
}

}  // namespace
}  // namespace railyard::report
