// Steps of training: what ranks compute and send is what can be computed by hand.
#include "control/jobs/training.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "control/jobs/compile.h"
#include "control/jobs/eras.h"
#include "control/jobs/ideal.h"
#include "control/jobs/training_size.h"

namespace railyard::jobs {
namespace {

Model small() {
  return {.name = "small", .layers = 8, .hidden = 1024, .heads = 16, .kv_heads = 4, .feed_forward = 4096, .vocabulary = 32'000,
          .sequence = 2048};
}

Training training(int tp, int cp, int dp, int pp) {
  Training t;
  t.model = small();
  t.parallelism.degrees = {tp, cp, dp, pp};
  t.microbatches = 8;
  t.forward = Duration{8'000'000};
  t.backward = Duration{16'000'000};
  return t;
}

Duration ideal(const Training& t) {
  const auto right = check(t);
  EXPECT_TRUE(right) << right.error().key << ": " << right.error().text;
  const JobGraph graph = make_graph(t);
  const auto matches = check(graph);
  EXPECT_TRUE(matches) << matches.error().text;
  return matches ? ideal_time(graph, *matches) : Duration{};
}

// ---- Time ----------------------------------------------------------------------------------------------------------

// (m + p - 1) (F + B): the bubble is (p - 1) / (m + p - 1) of it, to the picosecond.
TEST(Training, TheBubbleOf1F1BAndGPipeIsTheTextbooks) {
  for (const auto schedule : {PipelineSchedule::k1F1B, PipelineSchedule::kGpipe})
    for (const int p : {1, 2, 4, 8})
      for (const int m : {1, 3, 8, 16}) {
        Training t = training(1, 1, 1, p);
        t.schedule = schedule;
        t.microbatches = m;
        EXPECT_EQ(ideal(t).ps, (m + p - 1) * 24'000'000) << p << " stages, " << m << " microbatches";
        EXPECT_NEAR(1 - m * 24e6 / static_cast<double>(ideal(t).ps), ideal_bubble(p, 1, m), 1e-12);
      }
}

// With v chunks at each stage the bubble is a v-th (Narayanan et al., SC '21, section 2.2.2).
TEST(Training, InterleavingDividesTheBubbleByTheChunks) {
  for (const int v : {2, 4}) {
    Training t = training(1, 1, 1, 2);
    t.schedule = PipelineSchedule::kInterleaved;
    t.chunks = v;
    EXPECT_EQ(ideal(t).ps, 8 * 24'000'000 + 24'000'000 / v);
    EXPECT_NEAR(1 - 8 * 24e6 / static_cast<double>(ideal(t).ps), ideal_bubble(2, v, 8), 1e-12);
  }
}

TEST(Training, ASlowStageHoldsAllUp) {
  const JobGraph graph = make_graph(training(1, 1, 1, 4));
  const auto matches = check(graph);
  // To the slow stage the first microbatch takes 2 x 8 us. That does 8 x 36 us; between its second forward pass and its first
  // backward pass it waits 12 us for the last stage (24 us, of which it computes 12). From it to the first stage: 2 x 16 us.
  EXPECT_EQ(ideal_time(graph, *matches, {1, 1, 1.5, 1}).ps, 16'000'000 + 8 * 36'000'000 + 12'000'000 + 32'000'000);
}

TEST(Training, OtherAxesDoNotChangeTheTimeOfAnIdealStep) {
  for (const auto sharding : {Sharding::kNone, Sharding::kZero1, Sharding::kZero2, Sharding::kZero3}) {
    Training t = training(2, 2, 2, 2);
    t.sharding = sharding;
    EXPECT_EQ(ideal(t).ps, (8 + 2 - 1) * 24'000'000);
  }
}

TEST(Training, FromTheModelComputingTakesItsFlops) {
  Training t = training(1, 1, 1, 1);
  t.forward = t.backward = {};
  t.flops = 1e12;
  const double all = step_flops(t);
  EXPECT_NEAR(static_cast<double>(ideal(t).ps) / 1e12, all / t.flops, 1e-6 * all / t.flops);
  // 6 per parameter and token, and attention: 12 x layers x hidden x tokens per token.
  const double parameters = static_cast<double>(t.model.parameters() - t.model.embedding_parameters());
  const double by_hand = 8 * 2048.0 * (6 * parameters + 12.0 * 8 * 1024 * 2048);
  EXPECT_NEAR(all, by_hand, 1e-9 * by_hand);
}

// ---- Volumes -------------------------------------------------------------------------------------------------------

constexpr double kAttention = 2 * 1024.0 * 1024 + 2 * 1024.0 * 256;
constexpr double kMlp = 3 * 1024.0 * 4096;
constexpr double kLayer = kAttention + kMlp;
constexpr double kEmbedding = 32'000 * 1024.0;

Volumes of(const Training& t, std::uint32_t rank = 0) {
  EXPECT_TRUE(check(t));
  return volumes(make_graph(t), rank);
}

TEST(TrainingVolumes, DataParallelismSendsTwoGradientsOfEachParameter) {
  const Training t = training(1, 1, 4, 1);
  const double parameters = 8 * kLayer + 2 * kEmbedding;
  EXPECT_NEAR(of(t).data, 2.0 * 3 / 4 * parameters * 2, 1e3);
  EXPECT_EQ(of(t).tensor + of(t).context + of(t).pipeline + of(t).expert, 0);
}

// Rajbhandari et al., SC '20, section 7: 2 psi, 2 psi and 3 psi; with m microbatches each adds to what ZeRO-3 sends.
TEST(TrainingVolumes, ZeroSendsWhatItsPaperSays) {
  const double psi = (8 * kLayer + 2 * kEmbedding) * 2 * 3 / 4;
  for (const auto& [sharding, times] : {std::pair{Sharding::kZero1, 2.0}, std::pair{Sharding::kZero2, 2.0}, std::pair{Sharding::kZero3, 3.0}}) {
    Training t = training(1, 1, 4, 1);
    t.microbatches = 1;
    t.sharding = sharding;
    EXPECT_NEAR(of(t).data, times * psi, 1e4);
  }
}

// In groups of two: each copy is reduced and gathered within a pair, its halves among the two pairs.
TEST(TrainingVolumes, HybridShardingSendsAmongGroupsAShardOnly) {
  Training t = training(1, 1, 4, 1);
  t.microbatches = 1;
  t.sharding = Sharding::kZero3;
  t.shard = 2;
  const double psi = (8 * kLayer + 2 * kEmbedding) * 2;
  EXPECT_NEAR(of(t).data, 3 * psi / 2 + 2 * (psi / 2) / 2, 1e4);
}

TEST(TrainingVolumes, TensorParallelismReducesFourTimesPerLayerAndMicrobatch) {
  for (const bool sequence_parallel : {false, true}) {
    Training t = training(4, 1, 1, 1);
    t.sequence_parallel = sequence_parallel;
    const double activations = 2048.0 * 1024 * 2;
    EXPECT_NEAR(of(t).tensor, 8 * 8 * 4 * 2 * 3.0 / 4 * activations, 1) << "reduce-scatter and all-gather send as much";
  }
}

TEST(TrainingVolumes, PipelineStagesPassActivationsAndGradients) {
  Training t = training(2, 1, 1, 4);
  const double activations = 2048.0 * 1024 * 2;
  EXPECT_EQ(of(t, 0).pipeline, 8 * activations) << "the first stage sends forward only";
  EXPECT_EQ(of(t, 2).pipeline, 2 * 8 * activations);
  t.sequence_parallel = true;
  EXPECT_EQ(of(t, 2).pipeline, 2 * 8 * activations / 2);
}

TEST(TrainingVolumes, ContextParallelismGathersKeysAndValues) {
  const Training t = training(1, 4, 1, 1);
  EXPECT_NEAR(of(t).context, 8 * 8 * 2 * 3.0 / 4 * (2 * 2048.0 * 256 * 2), 1);
}

TEST(TrainingVolumes, ExpertsGetAndReturnTheTokensInBothPasses) {
  Training t = training(1, 1, 4, 1);
  t.model.experts = 8;
  t.model.experts_per_token = 2;
  t.parallelism.expert = 4;
  EXPECT_NEAR(of(t).expert, 8 * 8 * 4 * 3.0 / 4 * (2 * 2048.0 * 1024 * 2), 1);
  // A fourth of the experts is at each rank, and nobody else has them: only what all have is reduced.
  EXPECT_NEAR(of(t).data, 2.0 * 3 / 4 * (8 * (kAttention + 1024 * 8) + 2 * kEmbedding) * 2, 1e3);
}

TEST(TrainingVolumes, CompressedGradientsAreSmaller) {
  Training t = training(1, 1, 4, 1);
  const double whole = of(t).data;
  t.compression = 4;
  EXPECT_NEAR(of(t).data, whole / 4, 1e3);
}

// ---- Order ---------------------------------------------------------------------------------------------------------

// The design guides' example of eight GPUs: TP 2, PP 2, DP 2. What a rank of the first stage does, in this order.
TEST(Training, ThreeDimensionsGoInTheOrderOfTheGuides) {
  Training t = training(2, 1, 2, 2);
  t.microbatches = 1;
  t.segments = 1;
  const JobGraph graph = make_graph(t);
  std::vector<std::string> order;
  for (const Operation& o : graph.ranks[0])
    if (o.label > 0) order.push_back(graph.labels[o.label]);
  EXPECT_EQ(order, (std::vector<std::string>{"F0", "tp", "F0", "tp", "pp", "pp", "B0", "tp", "B0", "tp", "dp"}));
  // TP neighbours are next to each other, then come copies, then stages.
  EXPECT_EQ(graph.communicators[0], (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(graph.communicators[1], (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(graph.ranks[0][4].peer, 4u);
}

TEST(Training, GradientsOfASegmentGoWhileTheNextIsComputed) {
  Training t = training(1, 1, 2, 1);
  t.microbatches = 1;
  t.segments = 4;
  JobGraph graph = make_graph(t);
  // No computing waits for a collective, but for the end of the step.
  const auto waits = [&] {
    int n = 0;
    for (const Operation& o : graph.ranks[0])
      if (o.kind == Operation::Kind::kCompute && o.time > Duration{})
        n += static_cast<int>(std::ranges::count_if(o.after, [&](std::uint32_t a) {
          return graph.ranks[0][a].kind == Operation::Kind::kCollective;
        }));
    return n;
  };
  EXPECT_EQ(waits(), 0);
  t.overlap = false;
  graph = make_graph(t);
  EXPECT_GT(waits(), 0);
}

// ---- Size ----------------------------------------------------------------------------------------------------------

void expect_as_large_as_its_graph(const Training& t, const char* which) {
  ASSERT_TRUE(check(t)) << which;
  const auto made = static_cast<double>(make_graph(t).operations());
  EXPECT_GE(operations(t), made) << which;
  EXPECT_LE(operations(t), 1.5 * made) << which;
}

TEST(TrainingSize, IsKnownBeforeTheGraphIsMade) {
  expect_as_large_as_its_graph(training(1, 1, 1, 1), "one rank");
  expect_as_large_as_its_graph(training(2, 1, 1, 1), "tp");
  expect_as_large_as_its_graph(training(1, 2, 1, 1), "cp");
  expect_as_large_as_its_graph(training(1, 1, 4, 1), "dp");
  expect_as_large_as_its_graph(training(1, 1, 1, 4), "pp");
  for (const auto sharding : {Sharding::kNone, Sharding::kZero1, Sharding::kZero2, Sharding::kZero3}) {
    Training t = training(2, 2, 4, 2);
    t.sharding = sharding;
    t.sequence_parallel = true;
    expect_as_large_as_its_graph(t, "all axes");
    t.schedule = PipelineSchedule::kInterleaved;
    t.chunks = 2;
    t.optimizer = Duration{1000};
    expect_as_large_as_its_graph(t, "interleaved");
    t.shard = sharding == Sharding::kNone ? 0 : 2;
    expect_as_large_as_its_graph(t, "hybrid sharding");
    t.shard = 0;
    t.model.experts = 4;
    t.model.experts_per_token = 2;
    t.parallelism.expert = 2;
    expect_as_large_as_its_graph(t, "experts");
  }
}

// Otherwise the graph would fill the memory before anybody could say what is wrong.
TEST(TrainingErrors, StepsOfAbsurdLengthAreRefused) {
  Training t = training(2, 1, 1, 1);
  t.model.layers = 1000;
  t.microbatches = 1000;
  EXPECT_EQ(check(t).error().key, "microbatches");
  EXPECT_EQ(check(t).error().text, "a step has about 16000004 operations; expected at most 2097152: fewer microbatches, segments or ranks");
  t.segments = 125;
  EXPECT_TRUE(check(t));
  t = training(1, 1, 65'536, 1);
  t.model.layers = 10'000;
  t.microbatches = 1;
  EXPECT_EQ(check(t).error().key, "segments");
}

TEST(TrainingErrors, TheErasOfAJobHaveOneGraph) {
  Training t = training(2, 1, 4, 1);
  t.model.layers = 400;
  t.microbatches = 75;
  t.storage.steps = 10;
  t.storage.failures = {{.step = 2, .elastic = Elastic::kSmallerBatch, .rank = 0}};
  ASSERT_TRUE(check(t));
  EXPECT_EQ(eras(t).error().key, "failures");
  t.microbatches = 30;
  EXPECT_TRUE(eras(t));
}

// ---- Bad input -----------------------------------------------------------------------------------------------------

TEST(TrainingErrors, WhatCannotBeDividedIsRefusedByItsKey) {
  const auto refused = [](Training t) {
    const auto right = check(t);
    return right ? std::string("accepted") : std::string(right.error().key);
  };
  EXPECT_EQ(refused(training(3, 1, 1, 1)), "parallelism") << "16 heads";
  EXPECT_EQ(refused(training(1, 1, 1, 3)), "parallelism") << "8 layers";
  Training t = training(1, 1, 2, 2);
  t.schedule = PipelineSchedule::kInterleaved;
  t.chunks = 2;
  t.microbatches = 7;
  EXPECT_EQ(refused(t), "microbatches");
  t.chunks = 1;
  EXPECT_EQ(refused(t), "chunks");
  t = training(1, 1, 4, 1);
  t.parallelism.expert = 2;
  EXPECT_EQ(refused(t), "parallelism") << "no experts";
  t.model.experts = 3;
  EXPECT_EQ(refused(t), "parallelism") << "3 experts";
  t = training(1, 1, 4, 1);
  t.shard = 2;
  EXPECT_EQ(refused(t), "shard") << "nothing is sharded";
  t.sharding = Sharding::kZero3;
  t.shard = 3;
  EXPECT_EQ(refused(t), "shard");
  t = training(1, 3, 1, 1);
  EXPECT_EQ(refused(t), "sequence");
}

}  // namespace
}  // namespace railyard::jobs
