// NICs by workload, size of the model and kind of GPU, and where each number is from.
#include "control/plan/nic_advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/plan/communication.h"
#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kGigabit = 1'000'000'000;

struct Wanted {
  const char* workload;
  const char* model;
  int nics;
  int gigabit;
  const char* source;
};

// Eight H100s a node. A model of 8 billion parameters fits in one of them for serving, 70 billion in a node, 405 billion in
// two.
TEST(NicAdvice, FollowsWorkloadAndModel) {
  for (const Wanted& w : {Wanted{"pretraining", "8B", 8, 400, "DGX H100"}, Wanted{"pretraining", "405B", 8, 400, "DGX H100"},
                          Wanted{"mixed", "8B", 8, 400, "DGX H100"}, Wanted{"fine-tuning", "8B", 4, 400, "2-8-5"},
                          Wanted{"fine-tuning", "70B", 4, 400, "2-8-5"}, Wanted{"fine-tuning", "405B", 8, 400, "DGX H100"},
                          Wanted{"inference-rag", "8B", 2, 200, "two 200 GbE"},
                          Wanted{"inference-rag", "70B", 4, 400, "2-8-5"},
                          Wanted{"inference-rag", "405B", 8, 400, "DGX H100"}}) {
    const Plan p = planned({{"gpus", "128"}, {"workload", w.workload}, {"model", w.model}});
    const std::string where = fmt::format("{} {}", w.workload, w.model);
    EXPECT_EQ(p.shape.nics_per_node, w.nics) << where;
    EXPECT_EQ(p.shape.nic_rate.bps, w.gigabit * kGigabit) << where;
    EXPECT_THAT(p.request.advice.source, HasSubstr(w.source)) << where;
    EXPECT_THAT(text(sections(p)), HasSubstr(p.request.advice.source)) << where;
  }
}

TEST(NicAdvice, FollowsTheGpu) {
  const auto rate = [](const char* gpu) { return requested({{"gpus", "64"}, {"gpu", gpu}}).nic_rate().bps / kGigabit; };
  EXPECT_EQ(rate("v100"), 100);
  EXPECT_EQ(rate("a100"), 200);
  EXPECT_EQ(rate("h200"), 400);
  EXPECT_EQ(rate("mi250x"), 200);
  EXPECT_EQ(requested({{"gpus", "64"}, {"gpu", "v100"}}).nics(), 4) << "DGX-1 has four for eight GPUs";
  for (const char* gpu : {"v100", "a100", "h100", "h200", "b200", "mi250x", "mi300x"})
    EXPECT_FALSE(planned({{"gpus", "64"}, {"gpu", gpu}}).nic.held_up) << gpu << ": the slot is that of the server";
}

// A faster GPU fills its KV cache faster than two small ports carry away.
TEST(NicAdvice, CommunicationThatNeedsMoreTakesMore) {
  const Said said{{"gpus", "64"}, {"gpu", "b200"}, {"workload", "inference-rag"}, {"model", "8B"}};
  const Plan p = planned(said);
  EXPECT_EQ(p.request.nics(), 4);
  EXPECT_GE(p.nic.for_gpu.bps, p.step.needed.bps);
  EXPECT_THAT(p.request.advice.reason, HasSubstr("more for its communication"));
}

TEST(NicAdvice, AlwaysCarriesWhatTheJobNeeds) {
  for (const char* workload : {"pretraining", "fine-tuning", "inference-rag", "mixed"})
    for (const char* model : {"8B", "70B", "405B"})
      for (const char* gpus : {"64", "128", "1024", "16384"}) {
        const Plan p = planned({{"gpus", gpus}, {"workload", workload}, {"model", model}});
        EXPECT_LE(p.step.now.exposed, kWorthIt) << workload << " " << model << " " << gpus;
      }
}

TEST(NicAdvice, WhatIsSaidWins) {
  const Request r = requested({{"gpus", "128"}, {"workload", "inference-rag"}, {"nics-per-node", "8"}, {"nic-rate", "100Gbps"}});
  EXPECT_EQ(r.nics(), 8);
  EXPECT_EQ(r.nic_rate().bps, 100 * kGigabit);
  EXPECT_EQ(requested({{"gpus", "128"}, {"workload", "fine-tuning"}, {"nic-rate", "200Gbps"}}).nics(), 4);
}

// NICs share out the GPUs of a node evenly.
TEST(NicAdvice, IsADivisorOfTheGpusOfANode) {
  for (const int per_node : {1, 2, 3, 4, 6, 8, 9, 16, 72})
    for (const char* workload : {"pretraining", "fine-tuning", "inference-rag", "mixed"}) {
      const std::string n = std::to_string(per_node);
      const Request r = requested({{"gpus", n}, {"gpus-per-node", n}, {"workload", workload}, {"model", "8B"}});
      EXPECT_EQ(per_node % r.nics(), 0) << n << " " << workload;
    }
}

// 2 octets out and 2 in for each of 70.6 billion parameters, in 32 parts, by rings of four; hidden: a pass of 8,192 tokens.
TEST(Communication, OfTrainingIsGradientsAndParameters) {
  const Communication c = communication(requested({{"gpus", "128"}, {"model", "70B"}}));
  EXPECT_GT(c.octets, 0);
  const BitRate needed = c.rate_for(kWorthIt);
  EXPECT_NEAR(c.exposed(needed), kWorthIt, 1e-6);
  EXPECT_LT(c.exposed(needed * 2), kWorthIt);
  EXPECT_NEAR(static_cast<double>(needed.bps), c.octets * 8 / (c.hidden + c.compute / 10), 10);
}

}  // namespace
}  // namespace railyard::plan
