// Serving requests: what ranks compute and send is what can be computed by hand.
#include "control/jobs/inference.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "control/jobs/ideal.h"

namespace railyard::jobs {
namespace {

Model small() {
  return {.name = "small", .layers = 8, .hidden = 1024, .heads = 16, .kv_heads = 4, .feed_forward = 4096, .vocabulary = 32'000,
          .sequence = 2048};
}

// Computing takes time by its operations alone, or reading by its octets alone, if the other rate is large.
constexpr double kFast = 1e30;

Inference inference(int prefill, int decode, int requests) {
  Inference i;
  i.model = small();
  i.prefill = {.tp = prefill, .replicas = 1};
  i.decode = {.tp = decode, .replicas = 1};
  i.requests = requests;
  i.prompt = 256;
  i.output = 10;
  i.flops = 1e14;
  i.memory = 1e12;
  i.seed = 1;
  return i;
}

constexpr double kAttention = 2 * 1024.0 * 1024 + 2 * 1024.0 * 256;
constexpr double kMlp = 3 * 1024.0 * 4096;
constexpr double kOutput = 32'000 * 1024.0;

// ---- Times ---------------------------------------------------------------------------------------------------------

TEST(Inference, APrefillTakesItsOperations) {
  Inference i = inference(2, 1, 1);
  i.memory = kFast;
  const double flops = 256 * 8 * (2 * (kAttention + kMlp) + 4 * 256.0 * 1024) + 2 * kOutput;
  EXPECT_NEAR(seconds(prefill_time(i, 256)), flops / 2 / 1e14, 1e-11);
}

TEST(Inference, AnIterationReadsTheWeightsOnceAndAllKvCaches) {
  Inference i = inference(1, 2, 1);
  i.flops = kFast;
  const double weights = 2 * (8 * (kAttention + kMlp) + kOutput);
  for (const int batch : {1, 7})
    EXPECT_NEAR(seconds(iteration_time(i, batch, 256 * batch)), (weights + batch * 256.0 * 2 * 8 * 256 * 2) / 2 / 1e12, 1e-11) << batch;
  i.memory = kFast;
  i.flops = 1e12;
  const double flops = 7 * 2 * (8 * (kAttention + kMlp) + kOutput) + 4.0 * 8 * 1024 * 256 * 7;
  EXPECT_NEAR(seconds(iteration_time(i, 7, 256 * 7)), flops / 2 / 1e12, 1e-11) << "a large batch is bound by computing";
}

// Of 8 experts, 2 per token: one token reads 2, two read 8 (1 - (6/8)^2) = 3.5 in the mean.
TEST(Inference, ABatchReadsTheExpertsThatItsTokensChoose) {
  Inference i = inference(1, 1, 1);
  i.model.experts = 8;
  i.model.experts_per_token = 2;
  i.flops = kFast;
  const auto mlps = [&](int batch) {
    const double octets = seconds(iteration_time(i, batch, 0)) * 1e12;
    return ((octets / 2 - kOutput) / 8 - kAttention - 8 * 1024) / kMlp;
  };
  EXPECT_NEAR(mlps(1), 2, 1e-3);
  EXPECT_NEAR(mlps(2), 3.5, 1e-3);
  EXPECT_NEAR(mlps(256), 8, 1e-3);
}

// ---- The plan ------------------------------------------------------------------------------------------------------

TEST(Inference, ARequestTakesPrefillAndItsIterationsIfMessagesTakeNoTime) {
  for (const int tp : {1, 4}) {
    const Inference i = inference(tp, tp, 1);
    Duration by_hand = prefill_time(i, 256);
    for (int n = 0; n < 10; ++n) by_hand += iteration_time(i, 1, 256 + n);
    const Serving s = serve(i);
    const auto matches = check(s.graph);
    ASSERT_TRUE(matches) << matches.error().text;
    EXPECT_EQ(ideal_time(s.graph, *matches).ps, by_hand.ps);
    EXPECT_EQ(s.requests[0].first, iteration_time(i, 1, 256));
    EXPECT_EQ(s.requests[0].wait, Duration{});
  }
}

TEST(Inference, TheSecondRequestWaitsForTheOnlyPrefillReplica) {
  Inference i = inference(1, 1, 2);
  std::vector<Request> all = plan(i);
  EXPECT_EQ(all[1].prefilled, 2 * prefill_time(i, 256));
  i.prefill.replicas = 2;
  all = plan(i);
  EXPECT_EQ(all[1].prefilled, prefill_time(i, 256));
  EXPECT_NE(all[0].prefill, all[1].prefill);
}

// Both are there at once: they share each iteration, and one costs less than two.
TEST(Inference, RequestsOfABatchShareItsIterations) {
  Inference i = inference(1, 1, 2);
  i.prefill.replicas = 2;
  const std::vector<Request> all = plan(i);
  EXPECT_EQ(all[0].first, iteration_time(i, 2, 2 * 256));
  EXPECT_EQ(all[0].first, all[1].first);
  EXPECT_NE(all[0].slot, all[1].slot);
  EXPECT_LT(all[0].first, 2 * iteration_time(i, 1, 256));
}

TEST(Inference, WhoComesDuringAnIterationWaitsForItsEnd) {
  Inference i = inference(1, 1, 2);
  const Duration prefill = prefill_time(i, 256);
  Duration end = prefill;  // of the iterations that the first one is in alone
  for (int n = 0; end < 2 * prefill && n < 10; ++n) end += iteration_time(i, 1, 256 + n);
  i.output = 10;
  const std::vector<Request> all = plan(i);
  EXPECT_EQ(all[1].wait, std::max(end - 2 * prefill, Duration{}));
  EXPECT_LT(all[1].wait, iteration_time(i, 1, 266));
}

// With one slot they follow each other, and nothing is waited for beside the slot.
TEST(Inference, AFullBatchHoldsRequestsBack) {
  Inference i = inference(1, 1, 3);
  i.prefill.replicas = 3;
  i.batch = 1;
  const std::vector<Request> all = plan(i);
  for (const Request& r : all) {
    EXPECT_EQ(r.slot, 0);
    EXPECT_EQ(r.first, iteration_time(i, 1, 256)) << "alone in its batch";
    EXPECT_EQ(r.wait, Duration{});
  }
  const Serving s = serve(i);
  const auto matches = check(s.graph);
  ASSERT_TRUE(matches) << matches.error().text;
  EXPECT_EQ(ideal_time(s.graph, *matches), prefill_time(i, 256) + 3 * (all[0].first + all[0].rest));
}

TEST(Inference, ArrivalsArePoissonAndLengthsAreAsSaid) {
  Inference i = inference(1, 1, 4000);
  i.rate = 50;
  i.lengths = Lengths::kExponential;
  const std::vector<Request> all = plan(i);
  EXPECT_EQ(all[0].arrival, Duration{});
  EXPECT_NEAR(seconds(all.back().arrival), 4000 / 50.0, 4);
  double prompts = 0, outputs = 0;
  int long_gaps = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    prompts += all[n].prompt;
    outputs += all[n].output;
    EXPECT_GE(all[n].prompt, 1);
    EXPECT_GE(all[n].output, 1);
    if (n > 0) long_gaps += seconds(all[n].arrival - all[n - 1].arrival) > 1 / 50.0 ? 1 : 0;
  }
  EXPECT_NEAR(long_gaps / 4000.0, 0.368, 0.03) << "of exponential gaps 1/e are above the mean";
  EXPECT_NEAR(prompts / 4000, 256, 12);
  EXPECT_NEAR(outputs / 4000, 10, 0.7);
  i.seed = 2;
  EXPECT_NE(plan(i)[1].arrival, all[1].arrival);
}

TEST(Inference, ReplicasGetEqualShares) {
  Inference i = inference(1, 1, 400);
  i.prefill.replicas = 4;
  i.decode.replicas = 2;
  i.rate = 1000;
  std::map<int, int> prefill, decode;
  for (const Request& r : plan(i)) {
    ++prefill[r.prefill];
    ++decode[r.decode];
  }
  ASSERT_EQ(decode.size(), 2u);
  EXPECT_NEAR(decode[0], 200, 40);
  EXPECT_EQ(prefill.size(), 4u);
}

// ---- Messages ------------------------------------------------------------------------------------------------------

// Each decode rank gets its heads of each request, from whoever has them, and nothing else.
TEST(Inference, KvCachesAreDividedAmongRanks) {
  for (const auto& [prefill, decode] : {std::pair{1, 1}, std::pair{2, 2}, std::pair{4, 2}, std::pair{1, 4}, std::pair{2, 1}}) {
    Inference i = inference(prefill, decode, 3);
    const Serving s = serve(i);
    ASSERT_TRUE(check(s.graph));
    const double all = 3 * 2.0 * 8 * 256 * 2 * 256;  // requests x (keys, values) x layers x width x octets x tokens
    EXPECT_EQ(static_cast<double>(kv_octets(i, 256)) * 3, all);
    for (int r = 0; r < i.ranks(); ++r) {
      double sent = 0, received = 0;
      for (const Operation& o : s.graph.ranks[static_cast<std::size_t>(r)]) {
        if (o.kind == Operation::Kind::kSend) sent += static_cast<double>(o.octets);
        if (o.kind == Operation::Kind::kReceive) received += static_cast<double>(o.octets);
      }
      EXPECT_EQ(sent, r < prefill ? all / prefill : 0) << prefill << " to " << decode << ", rank " << r;
      EXPECT_EQ(received, r < prefill ? 0 : all / decode);
    }
  }
}

TEST(Inference, SegmentsShareOutLayersAndAllReduceTheirActivations) {
  Inference i = inference(2, 1, 1);
  for (const int segments : {0, 1, 3, 8, 100}) {
    i.segments = segments;
    const Serving s = serve(i);
    const std::size_t parts = segments == 0 || segments > 8 ? 8 : static_cast<std::size_t>(segments);
    EXPECT_EQ(s.graph.collectives.size(), parts);
    std::uint64_t octets = 0;
    for (const Collective& c : s.graph.collectives) octets += c.octets;
    EXPECT_EQ(octets, 2u * 8 * 256 * 1024 * 2) << "Megatron-LM: two all-reduces per layer";
    EXPECT_EQ(s.operations[0].decode[0].end_receives - s.operations[0].decode[0].first_receive, 2 * parts);
  }
}

TEST(Inference, TensorParallelismDividesTheHeads) {
  Inference i = inference(3, 1, 1);
  ASSERT_FALSE(check(i));
  EXPECT_EQ(check(i).error().key, "prefill");
  i = inference(1, 8, 1);  // 16 heads, but 4 of keys and values
  ASSERT_FALSE(check(i));
  EXPECT_EQ(check(i).error().key, "decode");
  EXPECT_TRUE(check(inference(4, 2, 1)));
}

TEST(Inference, PlansOfAbsurdLengthAreRefused) {
  Inference i = inference(1, 1, 100'000);
  i.output = 1000;
  EXPECT_EQ(check(i).error().text, "100000000 tokens of output in all; expected at most 20000000");
  i = inference(4, 4, 100'000);
  i.segments = 0;
  i.model.layers = 100;
  EXPECT_EQ(check(i).error().text, "about 160000000 operations; expected at most 16777216: fewer requests or segments");
}

}  // namespace
}  // namespace railyard::jobs
