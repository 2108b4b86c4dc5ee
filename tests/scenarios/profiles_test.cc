// The profiles of jobs that ship as scenarios: what users pick first.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

// A checkpoint takes longer than a step without one; the others have most of the speed of an ideal network.
TEST(JobProfiles, PretrainingHasAllKindsOfParallelismAndACheckpoint) {
  Scenario s = Scenario::ready("pretraining");
  const report::CollectiveReport c = s.run_collectives().at(0);
  EXPECT_EQ(c.ranks.size(), 32u + 8u) << "GPUs, and the NICs of the storage host";
  ASSERT_TRUE(c.storage && c.storage->checkpoint_ns);
  EXPECT_GT(*c.storage->checkpoint_ns, 0);
  EXPECT_GT(*c.figures->efficiency, 0.5);
}

// The first step reads the weights.
TEST(JobProfiles, FineTuningReadsTheWeightsAndShardsInTheHost) {
  Scenario s = Scenario::ready("fine-tuning");
  const report::CollectiveReport c = s.run_collectives().at(0);
  EXPECT_EQ(c.ranks.size(), 16u + 8u);
  ASSERT_EQ(c.iterations.size(), 2u);
  ASSERT_TRUE(c.storage && c.storage->restore_ns);
  EXPECT_GT(*c.storage->restore_ns, 0);
}

// Questions and passages have a class of their own, and wait for no KV cache.
TEST(JobProfiles, RetrievalAugmentedInferenceKeepsTheLatencyOfQuestions) {
  Scenario s = Scenario::ready("inference-rag");
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  ASSERT_EQ(r.collectives.size(), 1u);
  EXPECT_TRUE(r.collectives[0].verified) << r.collectives[0].stalled << r.collectives[0].wrong;
  ASSERT_EQ(r.traffic.size(), 2u);
  for (const report::TrafficReport& t : r.traffic) {
    EXPECT_TRUE(t.latency_ns.known()) << t.name;
    EXPECT_LT(t.latency_ns.max, 50'000u) << t.name;
  }
}

}  // namespace
}  // namespace railyard::test
