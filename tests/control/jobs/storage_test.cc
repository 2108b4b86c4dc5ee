// Checkpoints and failures of a job: which steps they make longer, and which count for nothing.
#include "control/jobs/storage.h"

#include <gtest/gtest.h>

#include "control/jobs/ideal.h"
#include "control/jobs/training.h"

namespace railyard::jobs {
namespace {

using Steps = std::vector<std::uint32_t>;

Storage storing(int every, int steps, std::vector<Failure> failures = {}) {
  return {.ranks = 1, .every = every, .failures = std::move(failures), .steps = steps};
}

TEST(Course, WritesACheckpointEveryFewSteps) {
  const Course c = course(storing(3, 10));
  EXPECT_EQ(c.checkpoints, (Steps{2, 5, 8}));
  EXPECT_TRUE(c.restores.empty());
  EXPECT_EQ(c.lost, 0);
}

TEST(Course, GoesOnFromTheLastCheckpointAfterAFailure) {
  // 1 2 3| 4 5x | 4 5 6| 7 8
  const Course c = course(storing(3, 10, {{5, Duration{7}}}));
  EXPECT_EQ(c.checkpoints, (Steps{2, 7}));
  EXPECT_EQ(c.restores, (Steps{5}));
  EXPECT_EQ(c.restarts, (std::vector<std::pair<std::uint32_t, Duration>>{{5, Duration{7}}}));
  EXPECT_EQ(c.lost, 2) << "the fourth, and the one that failed";
}

TEST(Course, BeginsAnewWithoutACheckpoint) {
  const Course c = course(storing(0, 5, {{3, Duration{}}}));
  EXPECT_TRUE(c.restores.empty()) << "there is nothing to read";
  EXPECT_EQ(c.lost, 3);
  Storage s = storing(0, 5, {{3, Duration{}}});
  s.restore = true;
  EXPECT_EQ(course(s).restores, (Steps{0, 3})) << "what it began with";
}

TEST(Course, AFailureInTheLastStepHasNothingBehindIt) {
  const Course c = course(storing(2, 5, {{5, Duration{9}}}));
  EXPECT_EQ(c.checkpoints, (Steps{1, 3}));
  EXPECT_TRUE(c.restores.empty());
  EXPECT_TRUE(c.restarts.empty());
  EXPECT_EQ(c.lost, 1);
}

TEST(Course, GoesOnFromTheLastCheckpointWhenACopyReturns) {
  // 1 2| 3x | 3 4| 5 > 5 6| 7: the fifth step is done again by the copy that is back.
  const Course c = course(storing(2, 8, {{3, Duration{5}, Elastic::kSmallerBatch, 1, 7}}));
  EXPECT_EQ(c.checkpoints, (Steps{1, 4, 7}));
  EXPECT_EQ(c.restores, (Steps{3, 6}));
  EXPECT_EQ(c.restarts, (std::vector<std::pair<std::uint32_t, Duration>>{{3, Duration{5}}, {6, Duration{5}}}));
  EXPECT_EQ(c.lost, 2);
  // Right after a checkpoint nothing is.
  EXPECT_EQ(course(storing(2, 8, {{3, Duration{5}, Elastic::kSmallerBatch, 1, 6}})).lost, 1);
}

TEST(Course, FailsAgainAndAgain) {
  const Course c = course(storing(2, 8, {{3, Duration{}}, {4, Duration{}}, {8, Duration{}}}));
  // 1 2| 3x 3x 3 4| 5 6x: the checkpoint of a step that fails is not written.
  EXPECT_EQ(c.checkpoints, (Steps{1, 5}));
  EXPECT_EQ(c.restores, (Steps{3, 4}));
  EXPECT_EQ(c.lost, 4);
}

// ---- In the graph of a job -----------------------------------------------------------------------------------------

Training storing_job(int tp, int dp, int pp, int experts = 0, int ep = 1) {
  Training t;
  t.model = {.name = "small", .layers = 8, .hidden = 256, .heads = 8, .feed_forward = 1024, .vocabulary = 1000, .sequence = 128,
             .experts = experts, .experts_per_token = experts > 0 ? 2 : 0};
  t.parallelism.degrees = {tp, 1, dp, pp};
  t.parallelism.expert = ep;
  t.forward = Duration{8'000'000};
  t.backward = Duration{16'000'000};
  t.storage = {.ranks = 2, .every = 2, .sample = Bytes{1000}, .steps = 4};
  return t;
}

// Every parameter is in it once, however the job is spread out.
TEST(Storage, ACheckpointHasEveryParameterOnce) {
  for (const Training& t : {storing_job(1, 4, 1), storing_job(2, 2, 2), storing_job(4, 1, 1), storing_job(1, 4, 1, 4, 4), storing_job(2, 4, 1, 4, 2)}) {
    const auto octets = static_cast<double>(checkpoint_octets(make_graph(t)));
    EXPECT_NEAR(octets, 14.0 * static_cast<double>(t.model.parameters()), 16 * t.parallelism.ranks())
        << "but for rounding to whole elements";
  }
}

TEST(Storage, AnOrdinaryStepHasNoneOfIt) {
  Training t = storing_job(1, 4, 1);
  const JobGraph with = make_graph(t);
  ASSERT_TRUE(check(with)) << check(with).error().text;
  EXPECT_EQ(with.ordinary(4), 0u);
  const JobGraph ordinary = of_repeat(with, 0);
  const Duration stored = ideal_time(ordinary, *check(ordinary));
  t.storage = {};
  const JobGraph without = make_graph(t);
  EXPECT_EQ(stored, ideal_time(without, *check(without)));
  EXPECT_EQ(volumes(with, 0).data, volumes(without, 0).data);
  // In a step that writes one there are its messages, and those by which ranks wait for each other, to the first and back.
  EXPECT_EQ(of_repeat(with, 1).octets() - ordinary.octets(), checkpoint_octets(with) + 2u * 3 * 64);
}

// Then what is usual has it, and a single step without it is not.
TEST(Storage, WhereNearlyEachStepStoresTheUsualStepDoes) {
  Training t = storing_job(1, 4, 1);
  t.storage.every = 1;
  t.storage.steps = 6;
  const JobGraph with = make_graph(t);
  const std::uint32_t usual = with.ordinary(6);
  EXPECT_GT(of_repeat(with, usual).octets(), checkpoint_octets(with));
}

TEST(Storage, TheFirstStageReadsSamplesOfItsTensorGroup) {
  Training t = storing_job(2, 2, 2);
  t.microbatches = 3;
  t.microbatch_size = 2;
  const JobGraph graph = make_graph(t);
  std::uint64_t read = 0;
  for (const std::size_t rank : {graph.ranks.size() - 2, graph.ranks.size() - 1})
    for (const Operation& o : graph.ranks[rank])
      if (o.kind == Operation::Kind::kSend && graph.labels[o.label] == kSamples) read += o.octets;
  EXPECT_EQ(read, 2u * 3 * 2 * 1000) << "copies x microbatches x sequences x bytes";
}

}  // namespace
}  // namespace railyard::jobs
