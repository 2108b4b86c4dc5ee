// GPUs that models need, by the published sizes of their states.
#include "control/plan/memory_need.h"

#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

MemoryNeed need(const char* model, Workload workload) {
  return memory_need(model_named(spec::Tree::plain(model)), workload, 80'000'000'000, 8);
}

// Rajbhandari et al., SC '20: 16 octets per parameter.
TEST(MemoryNeed, TrainingTakesSixteenOctetsPerParameter) {
  const MemoryNeed n = need("70B", Workload::kPretraining);
  EXPECT_NEAR(static_cast<double>(n.parameters), 70.6e9, 0.2e9);
  EXPECT_EQ(n.weights + n.gradients + n.optimizer, 16 * n.parameters);
  // Korthikanti et al., MLSys '23: 34 s b h for each layer.
  EXPECT_EQ(n.activations, 34ull * 8192 * 8192 * 80);
  EXPECT_EQ(n.gpus % 8, 0);
  EXPECT_GE(static_cast<double>(n.gpus) * 72e9, static_cast<double>(n.total()));
  EXPECT_LT(static_cast<double>(n.gpus - 8) * 72e9, static_cast<double>(n.total()));
}

TEST(MemoryNeed, SmallerModelsAndOtherWorkloadsNeedLess) {
  EXPECT_EQ(need("8B", Workload::kInferenceRag).gpus, 1);
  EXPECT_EQ(need("8B", Workload::kPretraining).gpus, 3);
  EXPECT_LT(need("405B", Workload::kFineTuning).gpus, need("405B", Workload::kPretraining).gpus);
  EXPECT_GT(need("405B", Workload::kInferenceRag).gpus, 8) << "810 GB of weights are more than a node holds";
}

}  // namespace
}  // namespace railyard::plan
