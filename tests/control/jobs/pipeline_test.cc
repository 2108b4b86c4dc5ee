// Pipelines: each stage does each pass once, and without communication the bubble is what the papers say.
#include "control/jobs/pipeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace railyard::jobs {
namespace {

TEST(Pipeline, EachStageDoesEachPassOnceAndForwardFirst) {
  for (const auto& [schedule, chunks] : {std::pair{PipelineSchedule::kGpipe, 1}, std::pair{PipelineSchedule::k1F1B, 1},
                                         std::pair{PipelineSchedule::kInterleaved, 3}})
    for (int stage = 0; stage < 4; ++stage) {
      std::set<std::tuple<bool, int, int>> seen;
      for (const Pass& p : passes(schedule, stage, 4, chunks, 8)) {
        EXPECT_TRUE(seen.insert({p.forward, p.microbatch, p.chunk}).second);
        if (!p.forward) {
          EXPECT_TRUE(seen.contains({true, p.microbatch, p.chunk})) << "no backward pass before its forward pass";
        }
      }
      EXPECT_EQ(seen.size(), 2u * 8 * static_cast<unsigned>(chunks));
    }
}

// Narayanan et al., SC '21, figure 4: the first stage of four has four microbatches in flight, the last one has one.
TEST(Pipeline, With1F1BAStageHasAsManyMicrobatchesInFlightAsStagesFollowIt) {
  for (int stage = 0; stage < 4; ++stage) {
    int in_flight = 0, most = 0;
    for (const Pass& p : passes(PipelineSchedule::k1F1B, stage, 4, 1, 8)) {
      in_flight += p.forward ? 1 : -1;
      most = std::max(most, in_flight);
    }
    EXPECT_EQ(most, 4 - stage);
  }
}

TEST(Pipeline, GPipeHasAllOfThemInFlight) {
  const auto order = passes(PipelineSchedule::kGpipe, 2, 4, 1, 8);
  EXPECT_TRUE(std::ranges::all_of(order.begin(), order.begin() + 8, [](const Pass& p) { return p.forward; }));
}

}  // namespace
}  // namespace railyard::jobs
