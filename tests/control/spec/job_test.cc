// What a fabric file says of jobs, and what it may not.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/job_model.h"
#include "control/spec/load.h"
#include "control/spec/shipped.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"
#include "tests/support/temporary_file.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

// Two hosts of four GPUs.
std::string job_with(const std::string& keys) {
  return "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1 }\n"
         "hosts: { default: { gpus: 4, scale-up: { rate: 800Gbps } } }\njobs:\n"
         "  - { name: j, " + keys + " }\n";
}
std::string job_error(const std::string& keys) { return error_of(job_with(keys)); }
CollectiveSpec job(const std::string& keys, const std::vector<std::string>& sets = {}) {
  return parse(job_with(keys), "x.yaml", sets).collectives.at(0);
}

TEST(Jobs, TakeAllRanksForTheirCopies) {
  const CollectiveSpec c = job("model: gpt2-124m, parallelism: { tp: 2 }");
  EXPECT_TRUE(c.is_job());
  EXPECT_EQ(c.path(), "jobs.j");
  EXPECT_EQ(c.operation_name(), "job");
  EXPECT_EQ(c.algorithm_name(), "gpt2-124m");
  EXPECT_EQ(c.job->training.parallelism.degrees, (std::array{2, 1, 4, 1}));
  EXPECT_EQ(c.traced.graph->ranks.size(), 8u);
  // With a number of copies the first ranks are used.
  EXPECT_EQ(job("model: gpt2-124m, parallelism: { tp: 2, dp: 2 }").traced.graph->ranks.size(), 4u);
}

TEST(Jobs, EveryModelThatShipsCanBeTrained) {
  for (const ShippedFile& f : model_files()) {
    const CollectiveSpec c = job("model: " + std::string(f.name) + ", parallelism: { pp: 2 }, segments: 1");
    EXPECT_EQ(c.job->training.model.name, f.name);
    EXPECT_GT(c.job->training.model.parameters(), 100'000'000u);
  }
}

TEST(Jobs, AModelIsAFileOrAMap) {
  const test::TemporaryFile file("mine.yaml");
  file.put("layers: 2\nhidden: 64\nheads: 4\nfeed-forward: 128\nvocabulary: 100\nsequence: 32\n");
  EXPECT_EQ(job("model: " + file.name()).job->training.model.hidden, 64);
  EXPECT_EQ(job("model: { layers: 2, hidden: 32, heads: 4, feed-forward: 128, vocabulary: 100, sequence: 32 }").job->training.model.hidden, 32);
}

TEST(Jobs, AreWrittenAsTheyWereRead) {
  for (const char* keys : {"model: llama-8b, parallelism: { tp: 4, pp: 2 }, microbatches: 4, schedule: interleaved, chunks: 2",
                           "model: mixtral-8x7b, parallelism: { ep: 4, order: [dp, tp, cp, pp] }, sharding: zero-3, expert-skew: 1.5",
                           "model: { layers: 2, hidden: 32, heads: 4, feed-forward: 128, vocabulary: 100, sequence: 32 }, forward: "
                           "1ms, backward: 2ms, transport: uet, compression: 4, gpu: a100, mfu: 0.5, steps: 3, launch-cost: 5us, step-cost: 1us",
                           "model: gpt2-124m, ranks: [h1], storage: [\"h2:1\"], checkpoint: { every: 2, restore: true, parameter-bytes: 2 }, "
                           "sample-size: 1MB, storage-dscp: 10, failures: [{ step: 3, restart: 1s }], steps: 5",
                           "model: gpt2-124m, microbatches: 7, failures: [{ step: 3, elastic: same-batch, rank: 5, returns: 5 }, { step: 4 }], steps: 5"}) {
    const Lab lab = parse(job_with(keys), "x.yaml");
    const std::string text = to_yaml(lab);
    EXPECT_THAT(text, HasSubstr("jobs:\n"));
    EXPECT_EQ(to_yaml(parse(text, "y.yaml")), text);
    EXPECT_EQ(parse(text, "y.yaml").collectives, lab.collectives);
    const std::string all = to_yaml(lab, Defaults::kWritten);
    EXPECT_EQ(parse(all, "z.yaml").collectives, lab.collectives);
  }
}

TEST(Jobs, StoreAtRanksOfTheirOwn) {
  const Lab lab = parse(job_with("model: gpt2-124m, storage: [h2:2, h2:4], checkpoint: { every: 2 }, steps: 5"), "x.yaml");
  const CollectiveSpec& c = lab.collectives.at(0);
  EXPECT_EQ(c.job->training.parallelism.degrees, (std::array{1, 1, 6, 1})) << "the others";
  const std::vector<RankAt> all = ranks_at(lab, c);
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[6].nic, (PortName{"h2", 2}));
  EXPECT_EQ(all[7].nic, (PortName{"h2", 4}));
}

TEST(Jobs, OfWhichStorageIsWrongSayWhy) {
  EXPECT_THAT(job_error("model: gpt2-124m, checkpoint: { every: 2 }"), HasSubstr("found without storage; expected storage: [hosts that store]"));
  EXPECT_THAT(job_error("model: gpt2-124m, sample-size: 1MB"), HasSubstr("found without storage"));
  EXPECT_THAT(job_error("model: gpt2-124m, checkpoint: { restore: true }"), HasSubstr("found without storage"));
  EXPECT_THAT(job_error("model: gpt2-124m, steps: 2, failures: [{ step: 3 }]"), HasSubstr("step 3 of 2; expected 1..2"));
  EXPECT_THAT(job_error("model: gpt2-124m, steps: 2, failures: [{ step: 1 }, { step: 1 }]"), HasSubstr("step 1 fails twice"));
  EXPECT_THAT(job_error("model: gpt2-124m, storage: [h2], checkpoint: { ever: 2 }"), HasSubstr("did you mean 'every'"));
  EXPECT_THAT(job_error("model: gpt2-124m, storage: [h9]"), HasSubstr("h9"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { dp: 8 }, storage: [h2]"), HasSubstr("needs 8 ranks, but there are 4 NICs or GPUs"));
}

// Six compute, two store.
TEST(Jobs, StragglersAreRanksThatCompute) {
  const std::string job_that_stores = "model: gpt2-124m, storage: [h2:2, h2:4], checkpoint: { every: 2 }, steps: 5, stragglers: ";
  EXPECT_EQ(job(job_that_stores + "[{ ranks: 5, factor: 2 }]").stragglers.size(), 1u);
  EXPECT_THAT(job_error(job_that_stores + "[{ ranks: 6, factor: 2 }]"), HasSubstr("there is no rank 6 that computes; expected 0..5"));
  EXPECT_THAT(job_error("model: gpt2-124m, stragglers: [{ ranks: 8, factor: 2 }]"), HasSubstr("there is no rank 8; expected 0..7"));
}

TEST(Jobs, OfWhichNoCopyCanBeLeftOutSayWhy) {
  const auto error = [](const std::string& parallelism, const std::string& failures) {
    return job_error("model: gpt2-124m, steps: 4, microbatches: 2, parallelism: { " + parallelism + " }, failures: [" + failures + "]");
  };
  EXPECT_THAT(error("tp: 4, dp: 2", "{ step: 2, elastic: smaller-batch }"), HasSubstr("step 2: elastic, but no rank fails; expected rank: the one that is lost"));
  EXPECT_THAT(error("tp: 4, dp: 2", "{ step: 2, rank: 3 }"), HasSubstr("step 2: rank 3 is replaced, whichever it is"));
  EXPECT_THAT(error("tp: 4, dp: 2", "{ step: 2, rank: 8, elastic: smaller-batch }"), HasSubstr("step 2: there is no rank 8; expected 0..7"));
  EXPECT_THAT(error("tp: 4, pp: 2", "{ step: 2, rank: 3, elastic: smaller-batch }"), HasSubstr("step 2: rank 3 is in the only copy, and none would be left"));
  EXPECT_THAT(error("tp: 4, dp: 2", "{ step: 3, rank: 4, elastic: smaller-batch }, { step: 2, rank: 1, elastic: smaller-batch }"),
              HasSubstr("step 3: rank 4 is in the only copy"));
  EXPECT_THAT(error("tp: 2, dp: 4", "{ step: 2, rank: 0, elastic: smaller-batch }, { step: 3, rank: 1, elastic: smaller-batch }"),
              HasSubstr("step 3: rank 1 has been left out before"));
  EXPECT_THAT(error("tp: 2, dp: 4", "{ step: 2, rank: 0, elastic: same-batch }"),
              HasSubstr("after the failure in step 2 there are 3 copies: they cannot share out 8 microbatches evenly"));
  EXPECT_THAT(error("tp: 4, dp: 2", "{ step: 2, returns: 3 }"), HasSubstr("step 2: returns, but no copy is left out"));
  EXPECT_THAT(error("tp: 4, dp: 2", "{ step: 2, rank: 3, elastic: smaller-batch, returns: 2 }"),
              HasSubstr("step 2: its copy returns in step 2; expected 3..4"));
  EXPECT_THAT(error("tp: 2, dp: 4", "{ step: 2, rank: 0, elastic: sometimes }"), HasSubstr("unknown 'sometimes'; expected off, smaller-batch or same-batch"));
  EXPECT_THAT(job_error("model: gpt2-124m, steps: 4, sharding: zero-1, shard: 4, failures: [{ step: 2, rank: 0, elastic: smaller-batch }]"),
              HasSubstr("after the failure in step 2 there are 7 copies: shard: 4 does not divide the 7 ranks"));
  EXPECT_THAT(job_error("model: gpt2-124m, storage-dscp: 10"), HasSubstr("found without storage; expected storage: [hosts that store]"));
}

TEST(Jobs, StandBehindCollectives) {
  const Lab lab = parse(job_with("model: gpt2-124m") + "collectives:\n  - { name: c, collective: barrier }\n", "x.yaml");
  ASSERT_EQ(lab.collectives.size(), 2u);
  EXPECT_FALSE(lab.collectives[0].is_job());
  EXPECT_TRUE(lab.collectives[1].is_job());
}

TEST(Jobs, OfInferenceTakeTheRanksOfBothPools) {
  const CollectiveSpec c = job("model: llama-8b, gpu: h200, inference: { prefill: { tp: 2 }, decode: { tp: 1, replicas: 2 }, rate: 2.5/s, "
                               "requests: 3 }");
  ASSERT_TRUE(c.job->inference);
  EXPECT_EQ(c.operation_name(), "job");
  EXPECT_EQ(c.algorithm_name(), "llama-8b");
  EXPECT_EQ(c.traced.graph->ranks.size(), 4u);
  EXPECT_EQ(c.job->inference->rate, 2.5);
  EXPECT_DOUBLE_EQ(c.job->inference->flops, 989e12 * 0.4);
  EXPECT_DOUBLE_EQ(c.job->inference->memory, 4800e9 * 0.6);
  EXPECT_EQ(job("model: llama-8b, inference: { prefill: {}, decode: {}, rate: inf }").job->inference->rate, 0);
  EXPECT_EQ(job("model: llama-8b, inference: { prefill: {}, decode: {}, rate: inf }", {"jobs.j.inference.rate=7/s"}).job->inference->rate, 7);
}

TEST(Jobs, OfInferenceAreWrittenAsTheyWereRead) {
  for (const char* keys : {"model: llama-8b, inference: { prefill: { tp: 4 }, decode: { tp: 2, replicas: 2 }, rate: 0.125/s }",
                           "model: mixtral-8x7b, mbu: 0.5, gpu: b200, inference: { prefill: {}, decode: {}, rate: inf, requests: 2, prompt: 10, "
                           "output: 3, lengths: exponential, batch: 2, segments: 0, weights: fp8, kv-cache: fp8 }"}) {
    const Lab lab = parse(job_with(keys), "x.yaml");
    const std::string text = to_yaml(lab);
    EXPECT_EQ(text.find("parallelism"), text.npos);
    EXPECT_EQ(to_yaml(parse(text, "y.yaml")), text);
    EXPECT_EQ(parse(text, "y.yaml").collectives, lab.collectives);
    EXPECT_EQ(parse(to_yaml(lab, Defaults::kWritten), "z.yaml").collectives, lab.collectives);
  }
}

TEST(JobErrors, OfInferenceNameTheKeyAndWhatWasExpected) {
  const auto with = [](const std::string& inference, const std::string& more = "") {
    return job_error("model: llama-8b, " + more + "inference: { " + inference + " }");
  };
  const std::string right = "prefill: { tp: 4 }, decode: { tp: 4 }, rate: 1/s";
  EXPECT_THAT(with(right + ", requests: 0"), HasSubstr("jobs.0.inference.requests"));
  EXPECT_THAT(with("decode: {}, rate: 1/s"), HasSubstr("key 'prefill' is missing"));
  EXPECT_THAT(with("prefill: {}, decode: {}"), HasSubstr("key 'rate' is missing"));
  EXPECT_THAT(with("prefill: {}, decode: {}, rate: 20"), HasSubstr("'20' is not a rate of requests; expected 0.001/s to 1000000/s such as 20/s, or inf"));
  EXPECT_THAT(with("prefill: {}, decode: {}, rate: 0/s"), HasSubstr("is not a rate of requests"));
  EXPECT_THAT(with("prefill: { tp: 3 }, decode: {}, rate: 1/s"), HasSubstr("jobs.0.inference.prefill: 32 attention heads cannot be divided among tp 3"));
  EXPECT_THAT(with("prefill: {}, decode: { replicas: 8 }, rate: 1/s"), HasSubstr("needs 9 ranks (1 for prefill, 8 for decode), but there are 8"));
  EXPECT_THAT(with(right + ", batch: 257"), HasSubstr("batch"));
  EXPECT_THAT(with(right, "microbatches: 2, "), HasSubstr("jobs.0.microbatches: is a key of training, found with inference"));
  EXPECT_THAT(with(right, "parallelism: { tp: 2 }, "), HasSubstr("is a key of training, found with inference"));
  EXPECT_THAT(with(right, "steps: 3, "), HasSubstr("has requests instead of steps"));
  EXPECT_THAT(job_error("model: llama-8b, mbu: 0.5"), HasSubstr("applies to inference only"));
  EXPECT_THAT(error_of("name: x\ntopology: { preset: rail-optimized, hosts: 4, rails: 8, spines: 1 }\n"
                       "hosts: { default: { gpus: 8, scale-up: { rate: 800Gbps } } }\njobs:\n"
                       "  - { name: j, model: llama-8b, inference: { prefill: { tp: 16 }, decode: {}, rate: 1/s } }\n"),
              HasSubstr("8 heads of keys and values cannot be divided among tp 16; expected a divisor of 8"));
}

TEST(JobErrors, NameTheKeyAndWhatWasExpected) {
  EXPECT_THAT(job_error("model: gpt2-124m, mfu: 2"), HasSubstr("jobs.0.mfu: 2 is above 1, the peak itself; expected a share such as 0.4"));
  EXPECT_THAT(job_error("model: llama-8b, inference: { prefill: {}, decode: {}, rate: 1/s }, mbu: 150%"), HasSubstr("jobs.0.mbu: 3/2 is above 1"));
  EXPECT_EQ(job("model: gpt2-124m, mfu: 1").job->mfu, (Ratio{1, 1}));
  EXPECT_THAT(job_error("parallelism: { tp: 2 }"), HasSubstr("key 'model' is missing"));
  EXPECT_THAT(job_error("model: lama-70b"), HasSubstr("there is no model 'lama-70b'; did you mean 'llama-70b'?"));
  EXPECT_THAT(job_error("model: ./none.yaml"), HasSubstr("none.yaml"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { tp: 3 }"), HasSubstr("needs a multiple of 3 ranks, but there are 8"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { tp: 8 }"), HasSubstr("12 attention heads cannot be divided among tp 8"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { pp: 8 }"), HasSubstr("12 layers cannot be divided among 8 stages"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { dp: 16 }"), HasSubstr("needs 16 ranks, but there are 8"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { ep: 2 }"), HasSubstr("has no experts"));
  EXPECT_THAT(job_error("model: gpt2-124m, parallelism: { order: [tp, tp, dp, pp] }"), HasSubstr("each once"));
  EXPECT_THAT(job_error("model: gpt2-124m, microbatches: 0"), HasSubstr("microbatches"));
  EXPECT_THAT(job_error("model: gpt2-124m, forward: 1ms"), HasSubstr("forward and backward, or neither"));
  EXPECT_THAT(job_error("model: gpt2-124m, sharding: zero-3, shard: 3"), HasSubstr("3 does not divide the 8 ranks"));
  EXPECT_THAT(job_error("model: gpt2-124m, service: rod"), HasSubstr("expected transport: uet"));
  EXPECT_THAT(job_error("model: { layers: 2, hidden: 30, heads: 4, feed-forward: 8, vocabulary: 1, sequence: 8 }"),
              HasSubstr("does not divide hidden 30"));
  EXPECT_THAT(job_error("model: { layers: 2, hidden: 32, heads: 4, feed-forward: 8, vocabulary: 1, sequence: 8, experts: 4 }"),
              HasSubstr("4 experts, 0 per token"));
}

// A placement that names a GPU twice.
TEST(JobErrors, APlacementNamesEachGpuOnce) {
  const test::TemporaryFile file("ranks.csv");
  file.put("rank,host,gpu\n0,h1,1\n1,h1,1\n");
  EXPECT_THAT(job_error("model: gpt2-124m, placement: " + file.name()), HasSubstr(file.name() + ":3"));
}

}  // namespace
}  // namespace railyard::spec
