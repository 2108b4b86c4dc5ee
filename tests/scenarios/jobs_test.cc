// Training jobs over whole labs: data are right, and steps take what can be computed by hand, plus what the fabric adds.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

// Two hosts of four GPUs, each with a NIC of its own.
std::string small_lab(const std::string& job) {
  return R"(
name: small
topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 2,
            host-link: { rate: 100Gbps, cable: 3m }, fabric-link: { rate: 100Gbps, cable: 30m } }
hosts: { default: { gpus: 4, scale-up: { rate: 800Gbps, latency: 1us } } }
jobs:
  - name: train
    model: { layers: 4, hidden: 64, heads: 4, kv-heads: 2, feed-forward: 128, vocabulary: 256, sequence: 64, experts: EXPERTS }
    forward: 20us
    backward: 40us
    chunk: 16KiB
)" + job;
}

std::string with_experts(std::string lab, bool experts) {
  lab.replace(lab.find("EXPERTS"), 7, experts ? "4, experts-per-token: 2" : "0");
  return lab;
}

report::CollectiveReport run(Scenario& s) {
  s.run_to_the_end();
  s.expect_books_balance();
  return s.report().collectives.at(0);
}

TEST(Jobs, OfEveryParallelismHaveTheRightData) {
  for (const char* job : {
           "    parallelism: { tp: 2, pp: 2, dp: 2 }\n    microbatches: 4\n",
           "    parallelism: { tp: 4, pp: 2 }\n    microbatches: 4\n    sequence-parallel: true\n",
           "    parallelism: { cp: 2, dp: 4 }\n    sharding: zero-1\n",
           "    parallelism: { dp: 8 }\n    sharding: zero-3\n    segments: 2\n    microbatches: 2\n",
           "    parallelism: { dp: 8 }\n    sharding: zero-2\n    shard: 4\n    overlap: false\n",
           "    parallelism: { pp: 4, dp: 2 }\n    schedule: gpipe\n    microbatches: 3\n",
           "    parallelism: { pp: 2, tp: 2, dp: 2, order: [pp, dp, tp, cp] }\n    schedule: interleaved\n    chunks: 2\n    microbatches: 4\n",
           "    parallelism: { ep: 4, dp: 8 }\n    expert-skew: 1\n",
       })
    for (const char* payload : {"elided", "real"})
      for (const char* transport : {"roce", "uet"}) {
        const bool experts = std::string(job).find("ep:") != std::string::npos;
        Scenario s(with_experts(small_lab(job), experts),
                   {std::string("run.payload=") + payload, std::string("jobs.train.transport=") + transport, "jobs.train.steps=2"});
        const report::CollectiveReport c = run(s);
        EXPECT_TRUE(c.verified) << job << payload << " " << transport << ": " << c.stalled << c.wrong;
        EXPECT_EQ(c.iterations.size(), 2u);
        ASSERT_TRUE(c.figures && c.figures->training);
        EXPECT_GT(*c.median_ns, c.figures->ideal_ns);
        EXPECT_FALSE(c.figures->training->mfu) << "its computing times are the file's own";
      }
}

// Without overlap: computing, and a ring all-reduce over the fabric: 2 (n - 1) / n of the gradients at the rate that framing
// leaves of the link, and 2 (n - 1) times the way.
TEST(Jobs, AStepOfDataParallelismIsItsClosedForm) {
  Scenario s(R"(
name: dp
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 4, host-link: { rate: 100Gbps, cable: 3m } }
jobs:
  - name: train
    model: { layers: 4, hidden: 512, heads: 8, feed-forward: 2048, vocabulary: 0, sequence: 64 }
    forward: 1ms
    backward: 2ms
    segments: 1
    overlap: false
    chunk: 64KiB
)");
  const report::CollectiveReport c = run(s);
  ASSERT_TRUE(c.verified);
  const double gradients = 4 * (4 * 512.0 * 512 + 3 * 512.0 * 2048) * 2;
  const double payload = 4096.0 / (4096 + 14 + 20 + 8 + 12 + 4 + 4 + 20);  // Ethernet, IP, UDP, BTH, ICRC, FCS, preamble and gap
  const double by_hand = 3e6 + 2 * 3 / 4.0 * gradients * 8 / (100 * payload);
  EXPECT_NEAR(static_cast<double>(*c.median_ns), by_hand, 0.01 * by_hand);
  EXPECT_EQ(c.figures->ideal_ns, 3'000'000);
  EXPECT_NEAR(c.figures->training->volumes.at(0).bytes, 2 * 3 / 4.0 * gradients, 1);
}

// Gradients that go while computing goes on cost little: those of the last segment only.
TEST(Jobs, OverlapHidesWhatComputingIsLongEnoughFor) {
  const auto time = [](bool overlap) {
    Scenario s = Scenario::ready("job-experts", {std::string("jobs.moe.overlap=") + (overlap ? "true" : "false"), "jobs.moe.chunk=1MiB"});
    return *run(s).median_ns;
  };
  EXPECT_LT(time(true), time(false));
}

// Stages that are neighbours in a host have the ideal bubble nearly; those across the fabric wait for their messages, too.
TEST(Jobs, ABadlyPlacedPipelineHasALargerBubble) {
  const auto efficiency = [](const char* order) {
    Scenario s = Scenario::ready("job-3d", {std::string("jobs.step.parallelism.order=") + order});
    const report::CollectiveReport c = run(s);
    EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
    return *c.figures->efficiency;
  };
  const double tensor_inside = efficiency("[tp, cp, dp, pp]");
  const double tensor_across = efficiency("[dp, pp, cp, tp]");
  EXPECT_GT(tensor_inside, 1.3 * tensor_across) << "tensor parallelism over the fabric";
}

TEST(Jobs, TheShippedOnesHaveTheRightData) {
  for (const char* name : {"job-3d", "job-experts"}) {
    Scenario s = Scenario::ready(name);
    const report::CollectiveReport c = run(s);
    EXPECT_TRUE(c.verified) << name << c.stalled << c.wrong;
    ASSERT_TRUE(c.figures->training->mfu);
    EXPECT_GT(*c.figures->training->mfu, 0);
    EXPECT_LT(*c.figures->training->mfu, 0.4) << "no more than computing alone reaches";
  }
}

// The same tensor-parallel group in one host and across two: a step waits for every sum of activations.
TEST(Jobs, TensorParallelismAcrossHostsIsSlowAndInsideIsNot) {
  Scenario s = Scenario::ready("tensor-across-hosts");
  s.run_to_the_end();
  s.expect_books_balance();
  const std::vector<report::CollectiveReport> c = s.report().collectives;
  ASSERT_EQ(c.size(), 2u);
  for (const report::CollectiveReport& one : c) EXPECT_TRUE(one.verified) << one.name << one.stalled << one.wrong;
  EXPECT_LT(*c[1].figures->efficiency, 0.5 * *c[0].figures->efficiency);
}

TEST(Jobs, TensorParallelismAcrossHostsThatShareAScaleUpNetworkIsNotSlow) {
  Scenario s = Scenario::ready("tensor-across-hosts", {"hosts.default.scale-up.hosts=2"});
  s.run_to_the_end();
  const std::vector<report::CollectiveReport> c = s.report().collectives;
  for (const report::CollectiveReport& one : c) EXPECT_TRUE(one.verified) << one.name << one.stalled << one.wrong;
  EXPECT_GT(*c[1].figures->efficiency, 0.97 * *c[0].figures->efficiency);
  EXPECT_EQ(c[1].fabric_bytes, 0u);
}

// ---- Storage and failures ------------------------------------------------------------------------------------------

// Four ranks write to one host at once: its link is what a checkpoint costs.
TEST(StoringJobs, ACheckpointTakesWhatTheLinkOfStorageTakes) {
  for (const char* transport : {"roce", "uet"})
    for (const char* payload : {"elided", "real"}) {
      Scenario s(R"(
name: storing
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 5, host-link: { rate: 100Gbps, cable: 3m } }
hosts: { default: { roce: { congestion: none } } }
jobs:
  - name: train
    model: { layers: 4, hidden: 256, heads: 8, feed-forward: 1024, vocabulary: 0, sequence: 64 }
    forward: 1ms
    backward: 2ms
    segments: 1
    ranks: [h1, h2, h3, h4]
    storage: [h5]
    checkpoint: { every: 2 }
    steps: 5
)", {std::string("run.payload=") + payload, std::string("jobs.train.transport=") + transport});
      const report::CollectiveReport c = run(s);
      ASSERT_TRUE(c.verified) << transport << payload << c.stalled << c.wrong;
      ASSERT_TRUE(c.storage && c.storage->checkpoint_ns) << "and the first rank's end is not the storage host's";
      const double octets = 14 * 4 * (4 * 256.0 * 256 + 3 * 256.0 * 1024);
      EXPECT_NEAR(static_cast<double>(c.storage->checkpoint_bytes), octets, 64);
      EXPECT_EQ(c.storage->checkpoints, 2);
      EXPECT_EQ(c.storage->lost_steps, 0);
      const double by_hand = octets * 8 / 100 * 4182 / 4096;  // RoCE; UET has more headers
      EXPECT_NEAR(static_cast<double>(*c.storage->checkpoint_ns), by_hand, 0.05 * by_hand) << transport;
      EXPECT_EQ(c.storage->ettr.has_value(), true);
    }
}

// The same bytes on any number of workers, and what is done again is done again.
TEST(StoringJobs, GoOnFromTheLastCheckpointAfterAFailure) {
  Scenario s = Scenario::ready("checkpoints");
  const report::CollectiveReport c = run(s);
  ASSERT_TRUE(c.verified) << c.stalled << c.wrong;
  ASSERT_EQ(c.iterations.size(), 9u);
  const report::StorageFigures& f = *c.storage;
  // 1 2 3 4| 5 6x | 5 6 7
  EXPECT_EQ(f.checkpoints, 1);
  EXPECT_EQ(f.restores, 1);
  EXPECT_EQ(f.failures, 1);
  EXPECT_EQ(f.lost_steps, 2);
  ASSERT_TRUE(f.checkpoint_ns && f.restore_ns && f.ettr);
  EXPECT_GT(*f.checkpoint_ns, 0);
  EXPECT_GT(*f.restore_ns, 0);
  const std::int64_t ordinary = *c.iterations[1].time_ns;
  EXPECT_GT(*c.iterations[6].time_ns, ordinary + 5'000'000) << "it starts again, and reads";
  const double all = static_cast<double>(c.iterations[8].start_ns + *c.iterations[8].time_ns - c.iterations[0].start_ns);
  EXPECT_NEAR(*f.ettr, 7.0 * static_cast<double>(ordinary) / all, 0.02);

  Scenario sooner = Scenario::ready("checkpoints", {"jobs.train.checkpoint.every=2"});
  EXPECT_EQ(run(sooner).storage->lost_steps, 2) << "the fifth and the sixth, whose checkpoint was not written";
  Scenario no_failure = Scenario::ready("checkpoints", {"jobs.train.failures=[]"});
  EXPECT_GT(*run(no_failure).storage->ettr, *f.ettr);
}

// The step after a checkpoint is as long as any other: nobody begins it before all have stored their part.
TEST(StoringJobs, TheNextStepWaitsForAll) {
  Scenario s = Scenario::ready("checkpoints", {"jobs.train.failures=[]", "jobs.train.checkpoint.every=2"});
  const report::CollectiveReport c = run(s);
  ASSERT_TRUE(c.verified) << c.stalled << c.wrong;
  const auto first = static_cast<double>(*c.iterations[0].time_ns);
  for (std::size_t after = 2; after < 9; after += 2) EXPECT_NEAR(static_cast<double>(*c.iterations[after].time_ns), first, 0.05 * first) << after;
  EXPECT_LT(*c.storage->ettr, 1);
}

// Each in its class: none of them fails, and what has a class of its own waits for no checkpoint.
TEST(StoringJobs, ShareAFabricWithInferenceRequestsAndMonitoring) {
  Scenario s = Scenario::ready("mixed-cluster");
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  ASSERT_EQ(r.collectives.size(), 2u);
  for (const report::CollectiveReport& one : r.collectives) EXPECT_TRUE(one.verified) << one.name << one.stalled << one.wrong;
  ASSERT_TRUE(r.collectives[0].storage->checkpoint_ns);
  EXPECT_LT(*r.collectives[0].storage->ettr, 1);
  for (const report::TrafficReport& t : r.traffic) {
    EXPECT_TRUE(t.latency_ns.known()) << t.name;
    EXPECT_LT(t.latency_ns.max, 100'000u) << t.name;
  }
}

// What is stored and read has its own class, whatever carries it; and what ranks send each other has theirs.
TEST(StoringJobs, HaveAClassOfTheirOwnForStorage) {
  for (const char* transport : {"roce", "uet"}) {
    Scenario s(R"(
name: storing
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 5, host-link: { rate: 100Gbps, cable: 3m } }
qos: { default: { classes: { 1: { lossless: true }, 3: { lossless: true } } } }
hosts: { default: { roce: { congestion: none } } }
jobs:
  - name: train
    model: { layers: 4, hidden: 256, heads: 8, feed-forward: 1024, vocabulary: 0, sequence: 64 }
    forward: 1ms
    backward: 2ms
    segments: 1
    ranks: [h1, h2, h3, h4]
    storage: [h5]
    storage-dscp: 10
    checkpoint: { every: 2, restore: true }
    steps: 3
)", {std::string("jobs.train.transport=") + transport});
    const report::CollectiveReport c = run(s);
    ASSERT_TRUE(c.verified) << transport << c.stalled << c.wrong;
    EXPECT_EQ(c.storage->checkpoints, 1);
    EXPECT_EQ(c.storage->restores, 1);
    EXPECT_GT(s.at("h5:1", 1).rx_octets, c.storage->checkpoint_bytes) << transport << ": one was written";
    EXPECT_GT(s.at("h5:1", 1).tx_octets, c.storage->checkpoint_bytes) << transport << ": one was read";
    EXPECT_EQ(s.at("h5:1", 3).rx_packets, 0u) << transport;
    EXPECT_EQ(s.at("h5:1", 3).tx_packets, 0u) << transport;
    // Gradients: 2 (n - 1) / n of two octets for each parameter and step.
    EXPECT_GT(s.at("h1:1", 3).tx_octets, 3 * c.storage->checkpoint_bytes / 14 * 3) << transport;
  }
}

// ---- Jobs that shrink ------------------------------------------------------------------------------------------------

// Four copies, each a rank, and a host that stores: nobody shares a link but there.
std::string elastic_lab(const std::string& failure) {
  return R"(
name: elastic
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 5, host-link: { rate: 100Gbps, cable: 3m } }
hosts: { default: { roce: { congestion: none } } }
jobs:
  - name: train
    model: { layers: 4, hidden: 256, heads: 8, feed-forward: 1024, vocabulary: 0, sequence: 64 }
    forward: 500us
    backward: 1ms
    segments: 1
    microbatches: 3
    ranks: [h1, h2, h3, h4]
    storage: [h5]
    checkpoint: { every: 2 }
    failures: [{ step: 3, restart: 7ms, rank: 1, )" + failure + R"( }]
    steps: 7
)";
}

constexpr double kParameters = 4 * (4 * 256.0 * 256 + 3 * 256.0 * 1024);
constexpr double kNsPerOctet = 8.0 / 100 * 4182 / 4096;
// Of so many copies that have so many microbatches: an all-reduce of gradients behind what is computed.
double elastic_step_ns(int copies, int microbatches) {
  return microbatches * 1.5e6 + 2.0 * (copies - 1) / copies * 2 * kParameters * kNsPerOctet;
}

TEST(ElasticJobs, GoOnWithTheCopiesThatAreLeft) {
  struct Case {
    const char* elastic;
    int microbatches;  // of three copies
    double weight;     // of a step of these
  };
  for (const Case& of : {Case{"smaller-batch", 3, 0.75}, Case{"same-batch", 4, 1}})
    for (const char* more : {"jobs.train.transport=roce", "jobs.train.transport=uet", "run.payload=real"}) {
      SCOPED_TRACE(std::string(of.elastic) + " " + more);
      Scenario s(elastic_lab(std::string("elastic: ") + of.elastic), {more});
      const report::CollectiveReport c = run(s);
      ASSERT_TRUE(c.verified) << c.stalled << c.wrong;
      const report::StorageFigures& f = *c.storage;
      // 1 2| 3x | 3 4| 5 6|: seven steps are carried out.
      ASSERT_EQ(c.iterations.size(), 7u);
      EXPECT_EQ(f.lost_steps, 1);
      EXPECT_EQ(f.checkpoints, 3);
      ASSERT_EQ(f.eras.size(), 2u);
      EXPECT_EQ(f.eras[0].copies, 4);
      EXPECT_EQ(f.eras[0].steps, 3);
      EXPECT_EQ(f.eras[1].copies, 3);
      EXPECT_EQ(f.eras[1].first_step, 4);
      EXPECT_EQ(f.eras[1].steps, 4);
      const double before = elastic_step_ns(4, 3), after = elastic_step_ns(3, of.microbatches);
      EXPECT_NEAR(static_cast<double>(*f.eras[0].step_ns), before, 0.01 * before);
      EXPECT_NEAR(static_cast<double>(*f.eras[1].step_ns), after, 0.01 * after);
      const double tokens = 4 * 3 * 64;
      EXPECT_NEAR(*f.eras[0].tokens_per_second, tokens / before * 1e9, 0.01 * tokens / before * 1e9);
      EXPECT_NEAR(*f.eras[1].tokens_per_second, of.weight * tokens / after * 1e9, 0.01 * tokens / after * 1e9);
      EXPECT_EQ(c.figures->training->tokens_per_second, f.eras[0].tokens_per_second) << "with all copies";
      // Each of the three reads a third of the checkpoint, and of the parameters what the other two keep.
      const double read = (14 + 2 * 2) * kParameters * kNsPerOctet;
      EXPECT_NEAR(static_cast<double>(*f.restore_ns), read, 0.05 * read);
      const double all = static_cast<double>(c.iterations[6].start_ns + *c.iterations[6].time_ns - c.iterations[0].start_ns);
      EXPECT_NEAR(*f.ettr, (2 + 4 * of.weight) * before / all, 0.005);
    }
}

TEST(ElasticJobs, LeaveOutTheWholeCopyOfARank) {
  const std::string lab = elastic_lab("elastic: smaller-batch");
  // Two stages in each of two copies: ranks 1 and 3 are one of them.
  Scenario s(lab, {"jobs.train.parallelism={ pp: 2, dp: 2 }"});
  const report::CollectiveReport c = run(s);
  ASSERT_TRUE(c.verified) << c.stalled << c.wrong;
  EXPECT_EQ(c.storage->eras[1].copies, 1);
  EXPECT_FALSE(c.job->straggler) << "h1 and h3 compute in more steps, as they are asked to";
  Scenario slow(lab, {"jobs.train.parallelism={ pp: 2, dp: 2 }", "jobs.train.stragglers=[{ ranks: [3], factor: 1.5 }]"});
  const report::CollectiveReport with = run(slow);
  ASSERT_TRUE(with.job->straggler);
  EXPECT_EQ(with.job->straggler->rank, "rank 3 (h4)");
  EXPECT_NEAR(with.job->straggler->factor, 1.5, 0.001);
  EXPECT_GT(s.at("h1:1", 3).tx_octets, 2 * s.at("h2:1", 3).tx_octets) << "h2 and h4 have nothing more to do";
  EXPECT_GT(s.at("h3:1", 3).tx_octets, 2 * s.at("h4:1", 3).tx_octets);
}

// 1 2| 3x | 3 4| > 5 6| 7: a copy that returns after a checkpoint. All of them compute and read then, at once.
TEST(ElasticJobs, ACopyReturns) {
  for (const char* elastic : {"smaller-batch", "same-batch"})
    for (const char* more : {"jobs.train.transport=roce", "jobs.train.transport=uet", "run.payload=real"}) {
      SCOPED_TRACE(std::string(elastic) + " " + more);
      Scenario s(elastic_lab(std::string("elastic: ") + elastic + ", returns: 6"), {more, "jobs.train.steps=9"});
      const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
      ASSERT_TRUE(estimated) << estimated.error();
      const report::CollectiveReport c = run(s);
      ASSERT_TRUE(c.verified) << c.stalled << c.wrong;
      const report::StorageFigures& f = *c.storage;
      EXPECT_EQ(f.lost_steps, 1);
      EXPECT_EQ(f.restores, 2);
      ASSERT_EQ(f.eras.size(), 3u);
      EXPECT_EQ(f.eras[1].copies, 3);
      EXPECT_EQ(f.eras[1].steps, 2);
      EXPECT_EQ(f.eras[2].copies, 4);
      EXPECT_EQ(f.eras[2].first_step, 6);
      EXPECT_EQ(f.eras[2].steps, 4);
      const double all = elastic_step_ns(4, 3);
      for (const std::size_t era : {0u, 2u}) EXPECT_NEAR(static_cast<double>(*f.eras[era].step_ns), all, 0.01 * all) << era;
      // The step that it returns with begins when the one before has ended.
      const double began = static_cast<double>(c.iterations[5].start_ns);
      EXPECT_NEAR(began, static_cast<double>(c.iterations[4].start_ns + *c.iterations[4].time_ns), 20e3);
      EXPECT_GT(*c.iterations[5].time_ns, 7'000'000 + all);
      EXPECT_NEAR(*estimated->collectives[0].storage->ettr, *f.ettr, 0.01);
    }
}

TEST(ElasticJobs, EstimatesAreNearTheRun) {
  Scenario s(elastic_lab("elastic: same-batch"));
  const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
  ASSERT_TRUE(estimated) << estimated.error();
  const report::CollectiveReport c = run(s);
  const report::StorageFigures& e = *estimated->collectives[0].storage;
  ASSERT_EQ(e.eras.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto ran = static_cast<double>(*c.storage->eras[i].step_ns);
    EXPECT_NEAR(static_cast<double>(*e.eras[i].step_ns), ran, 0.01 * ran) << i;
  }
  EXPECT_NEAR(*e.ettr, *c.storage->ettr, 0.01);
}

TEST(ElasticJobs, AnyNumberOfWorkersGivesTheSameBytes) {
  const auto digest = [](std::size_t workers) {
    EngineConfig config;
    config.workers = workers;
    Scenario s = Scenario::ready("elastic", {}, config);
    const report::CollectiveReport c = run(s);
    EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
    return s.digest();
  };
  const std::uint64_t one = digest(1);
  for (const std::size_t workers : {2u, 4u}) EXPECT_EQ(digest(workers), one) << workers;
}

TEST(StoringJobs, EstimatesAreNearTheRun) {
  // Congestion control would cost a tenth more.
  Scenario s = Scenario::ready("checkpoints", {"hosts.default.roce.congestion=none"});
  const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
  ASSERT_TRUE(estimated) << estimated.error();
  const report::CollectiveReport c = run(s);
  const report::StorageFigures& e = *estimated->collectives[0].storage;
  EXPECT_EQ(e.lost_steps, c.storage->lost_steps);
  const auto near = [](std::int64_t estimate, std::int64_t ran) {
    EXPECT_NEAR(static_cast<double>(estimate), static_cast<double>(ran), 0.1 * static_cast<double>(ran));
  };
  near(*e.checkpoint_ns, *c.storage->checkpoint_ns);
  near(*e.restore_ns, *c.storage->restore_ns);
  EXPECT_NEAR(*e.ettr, *c.storage->ettr, 0.03);
}

// Two of them, on GPUs of their own that share links.
TEST(Jobs, SeveralRunAtOnce) {
  Scenario s(R"(
name: two
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4, host-link: { rate: 100Gbps, cable: 3m } }
jobs:
  - { name: a, model: gpt2-124m, ranks: [h1, h2, h5, h6], segments: 1, forward: 1ms, backward: 2ms, compression: 16 }
  - { name: b, model: gpt2-124m, ranks: [h3, h4, h7, h8], segments: 1, forward: 1ms, backward: 2ms, compression: 16, start: 1ms }
)");
  s.run_to_the_end();
  const std::vector<report::CollectiveReport> c = s.report().collectives;
  ASSERT_EQ(c.size(), 2u);
  for (const report::CollectiveReport& one : c) EXPECT_TRUE(one.verified) << one.name << one.stalled << one.wrong;
}

// ---- Estimates -----------------------------------------------------------------------------------------------------

// What a run takes without congestion is what the estimate says, within a few percent.
TEST(Estimate, IsNearTheRunOnAnIdleFabric) {
  for (const char* name : {"job-64-rails", "job-3d", "shared-nics", "allreduce-rails"}) {
    Scenario s = Scenario::ready(name, std::string(name) == "job-64-rails" ? std::vector<std::string>{"jobs.train.steps=1"}
                                                                            : std::vector<std::string>{"faults=[]"});
    const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
    ASSERT_TRUE(estimated) << estimated.error();
    s.run_to_the_end();
    const std::vector<report::CollectiveReport> c = s.report().collectives;
    for (std::size_t i = 0; i < c.size(); ++i) {
      ASSERT_EQ(c[i].name, estimated->collectives[i].name);
      const double ran = static_cast<double>(*c[i].median_ns);
      EXPECT_NEAR(static_cast<double>(estimated->collectives[i].time.ps) / 1000, ran, 0.1 * ran) << name << " " << c[i].name;
    }
  }
}

}  // namespace
}  // namespace railyard::test
