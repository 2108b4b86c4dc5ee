// Traces over whole labs: what a job takes is what its schedule says, plus what the fabric adds.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"
#include "tests/support/temporary_file.h"

namespace railyard::test {
namespace {

// Its trace lies beside it.
Scenario pipeline(const std::vector<std::string>& sets, const EngineConfig& config = {}) {
  std::vector<std::string> all{"collectives.step.trace=" RAILYARD_SOURCE_DIR "/topologies/traces/pipeline-1f1b.goal"};
  all.insert(all.end(), sets.begin(), sets.end());
  return Scenario::ready("pipeline-trace", all, config);
}

report::CollectiveReport run(const std::vector<std::string>& sets) {
  Scenario s = pipeline(sets);
  s.run_to_the_end();
  s.expect_books_balance();
  const report::CollectiveReport c = s.report().collectives.at(0);
  EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
  return c;
}

// Eight microbatches, four stages: 11 x 3 ms, if messages take next to no time: here they have 64 octets.
TEST(Traces, APipelineHasTheBubbleOfItsSchedule) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/topologies/traces/pipeline-1f1b.goal");
  std::string goal(std::istreambuf_iterator<char>(in), {});
  for (std::size_t at = 0; (at = goal.find("8388608b", at)) != goal.npos;) goal.replace(at, 8, "64b");
  const TemporaryFile file("small.goal");
  file.put(goal);
  for (const char* transport : {"roce", "uet"}) {
    const auto c = run({"collectives.step.trace=" + file.name(), std::string("collectives.step.transport=") + transport});
    EXPECT_EQ(c.collective, "trace");
    EXPECT_EQ(c.algorithm, file.path().filename().string());
    EXPECT_FALSE(c.has_bandwidth());
    EXPECT_GT(*c.median_ns, 33'000'000);
    EXPECT_LT(*c.median_ns, 33'000'000 * 1.01) << transport;
    ASSERT_TRUE(c.job);
    EXPECT_EQ(c.job->compute_ns, 24'000'000);
    // (p - 1) / (m + p - 1) of the time is bubble.
    EXPECT_NEAR(c.job->utilisation, 1 - 3.0 / 11, 0.005);
    EXPECT_FALSE(c.job->overlap);
    EXPECT_EQ(c.bytes, 6u * 8 * 64);
  }
}

TEST(Traces, ASlowFabricMakesTheBubbleLarger) {
  const auto quick = run({"topology.host-link.rate=400Gbps"});
  const auto slow = run({});
  EXPECT_GT(*slow.median_ns, *quick.median_ns + 1'000'000);
  EXPECT_LT(slow.job->utilisation, quick.job->utilisation);
}

// Each stage waits for the slow one: (m + p - 1) x 4.5 ms is what a step would take if all were slow.
TEST(Traces, ASlowStageHoldsUpAllOthers) {
  const auto c = run({"topology.host-link.rate=800Gbps", "topology.fabric-link.rate=800Gbps",
                      "collectives.step.stragglers=[{ ranks: 2, factor: 1.5 }]"});
  EXPECT_GT(*c.median_ns, 8 * 4'500'000);
  EXPECT_LT(*c.median_ns, 11 * 4'500'000);
  ASSERT_TRUE(c.job->straggler);
  EXPECT_EQ(c.job->straggler->rank, "rank 2 (h3)");
}

TEST(Traces, RepeatOneAfterTheOtherWithTheSameTimes) {
  const auto c = run({"collectives.step.repeats=3", "hosts.default.clock-error=0"});
  ASSERT_EQ(c.iterations.size(), 3u);
  for (const auto& repeat : c.iterations) ASSERT_TRUE(repeat.time_ns);
}

// The same digest on any number of workers.
TEST(Traces, AreTheSameOnAnyNumberOfWorkers) {
  std::uint64_t first = 0;
  for (const std::size_t workers : {1u, 2u, 3u}) {
    EngineConfig config;
    config.workers = workers;
    config.digest = true;
    Scenario s = pipeline({}, config);
    s.run_to_the_end();
    const std::uint64_t digest = s.digest();
    if (workers == 1) first = digest;
    EXPECT_EQ(digest, first) << workers;
  }
}

// Every octet of every message is compared.
TEST(Traces, HaveTheRightDataWithRealPayload) {
  const TemporaryFile file("t.goal");
  file.put("num_ranks 3\nrank 0 {\na: send 100000b to 1\nb: send 33b to 2 tag 4\nc: recv 5000b from 2\nb requires c\n}\n"
           "rank 1 {\nr: recv 100000b from 0\ns: send 7b to 2\nw: calc 2000\nw requires r\ns requires w\n}\n"
           "rank 2 {\na: recv 7b from 1\nb: send 5000b to 0\nd: recv 33b from 0 tag 4\nb requires a\n}\n");
  for (const char* transport : {"roce", "uet"}) {
    const auto c = run({"run.payload=real", "collectives.step.trace=" + file.name(), "collectives.step.chunk=4096B",
                        "collectives.step.repeats=3", std::string("collectives.step.transport=") + transport});
    EXPECT_EQ(c.ranks.size(), 3u) << "of four hosts the first three";
    EXPECT_EQ(c.messages.count, 3u * (25 + 1 + 2 + 1));
  }
}

// A trace that consists of one all-reduce takes as long as the all-reduce, whatever the format.
TEST(Traces, OfOneCollectiveTakeItsTime) {
  const auto time = [](const std::string& what) {
    Scenario s("name: t\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
               "defaults: { link: { rate: 100Gbps, cable: 3m } }\ncollectives:\n  - { name: c, " + what + " }\n");
    s.run_to_the_end();
    const report::CollectiveReport c = s.report().collectives.at(0);
    EXPECT_TRUE(c.verified) << what << c.stalled << c.wrong;
    return *c.median_ns;
  };
  const std::int64_t plain = time("collective: all-reduce, size: 4MiB, algorithm: ring, channels: 1");
  const TemporaryFile simai("t.txt"), nccl("t.log");
  simai.put("MICRO all_gpus: 4\n1\nx -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 4194304 0\n");
  EXPECT_NEAR(static_cast<double>(time("trace: " + simai.name())), static_cast<double>(plain), 0.01 * static_cast<double>(plain));
  std::string log;
  for (int r = 0; r < 4; ++r) {
    const std::string who = "n:" + std::to_string(r) + ":1 [0] NCCL INFO ";
    log += who + "ncclCommInitRank comm 0x1 rank " + std::to_string(r) + " nranks 4 cudaDev 0 commId 0x5 - Init START\n" + who +
           "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 1048576 datatype 7 op 0 root 0 comm 0x1 [nranks=4] stream 0x1\n";
  }
  nccl.put(log);
  EXPECT_NEAR(static_cast<double>(time("trace: " + nccl.name())), static_cast<double>(plain), 0.01 * static_cast<double>(plain));
}

// The samples of topologies/traces: a step takes at least its computing, and all data are right.
TEST(Traces, OfAllFormatsRunOverAFabric) {
  struct Sample {
    const char* name;
    const char* file;
    std::int64_t compute_ns;  // of the busiest rank
  };
  for (const Sample& sample : {Sample{"simai-trace", "simai-tp2-dp4.txt", 2'220'006}, Sample{"chakra-trace", "chakra-4.0.et", 12'500'000}}) {
    Scenario s = Scenario::ready(sample.name, {std::string("collectives.step.trace=" RAILYARD_SOURCE_DIR "/topologies/traces/") + sample.file});
    s.run_to_the_end();
    s.expect_books_balance();
    const report::CollectiveReport c = s.report().collectives.at(0);
    EXPECT_TRUE(c.verified) << sample.name << c.stalled << c.wrong;
    EXPECT_EQ(c.job->compute_ns, sample.compute_ns);
    EXPECT_GT(*c.median_ns, sample.compute_ns);
    ASSERT_TRUE(c.timeline);
    EXPECT_LE(c.timeline->path.compute_ns, *c.median_ns);
  }
}

}  // namespace
}  // namespace railyard::test
