// Who sends how much to whom, against closed forms; and as files.
#include "control/matrix/communication_matrix.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/jobs/expand.h"
#include "control/jobs/write_goal.h"
#include "control/matrix/matrix_files.h"
#include "control/spec/input_error.h"
#include "control/spec/job_trace.h"
#include "control/spec/load.h"
#include "tests/control/picture/well_formed.h"
#include "tests/support/temporary_file.h"

namespace railyard::matrix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

spec::Lab lab(const std::string& collectives, const std::string& more = "", int hosts = 4) {
  return spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: " + std::to_string(hosts) + " }\n" + more +
                         "collectives:\n  - " + collectives + "\n", "x.yaml");
}

TEST(CommunicationMatrix, OfARingIsItsNeighbours) {
  const auto c = communication_of(lab("{ name: c, collective: all-reduce, algorithm: ring, size: 4MiB, chunk: 1MiB, channels: 1 }"), By::kRank);
  EXPECT_THAT(c.matrix.names, ElementsAre("h1", "h2", "h3", "h4"));
  // 2 (n - 1) / n of the size to the next rank, nothing to others.
  for (std::size_t from = 0; from < 4; ++from)
    for (std::size_t to = 0; to < 4; ++to) EXPECT_EQ(c.matrix.at(from, to), to == (from + 1) % 4 ? 6 * kMiB : 0) << from << to;
  EXPECT_EQ(c.matrix.total(), 24 * kMiB);
  EXPECT_EQ(c.profile.messages, 24u);
  EXPECT_EQ(c.profile.least, kMiB);
  EXPECT_EQ(c.profile.most, kMiB);
  EXPECT_DOUBLE_EQ(c.profile.entropy, 0);
  EXPECT_DOUBLE_EQ(c.profile.most_entropy, std::log2(3));
  EXPECT_EQ(c.profile.rounds, 6u) << "each step waits for the one before";
  EXPECT_EQ(c.profile.most_at_once, 4u);
}

TEST(CommunicationMatrix, OfAnAllToAllIsEven) {
  const auto c = communication_of(lab("{ name: c, collective: all-to-all, size: 4MiB }"), By::kRank);
  for (std::size_t from = 0; from < 4; ++from)
    for (std::size_t to = 0; to < 4; ++to) EXPECT_EQ(c.matrix.at(from, to), from == to ? 0 : kMiB);
  EXPECT_NEAR(c.profile.entropy, std::log2(3), 1e-9);
  EXPECT_DOUBLE_EQ(c.profile.destinations, 3);
}

// Two GPUs of a host talk to each other over its scale-up network: on the diagonal by host.
TEST(CommunicationMatrix, ByHostAddsItsRanks) {
  const std::string gpus = "hosts: { default: { gpus: 2, scale-up: { rate: 900Gbps, latency: 500ns } } }\n";
  const spec::Lab two = lab("{ name: c, collective: all-to-all, size: 4MiB }", gpus, 2);
  const auto ranks = communication_of(two, By::kRank);
  const auto hosts = communication_of(two, By::kHost);
  EXPECT_EQ(ranks.matrix.names.size(), 4u);
  EXPECT_THAT(hosts.matrix.names, ElementsAre("h1", "h2"));
  EXPECT_EQ(hosts.matrix.total(), ranks.matrix.total());
  EXPECT_EQ(hosts.matrix.at(0, 1), 4 * kMiB);
  EXPECT_EQ(hosts.matrix.at(0, 0), 2 * kMiB);
  EXPECT_EQ(hosts.profile.scale_up_bytes, 4 * kMiB);
}

TEST(CommunicationMatrix, IsOfOneCollectiveOrOfAll) {
  const spec::Lab both = lab("{ name: a, collective: all-to-all, size: 4MiB }\n  - { name: b, collective: send-recv, size: 1MiB }");
  EXPECT_EQ(communication_of(both, By::kRank).matrix.total(),
            communication_of(both, By::kRank, "a").matrix.total() + communication_of(both, By::kRank, "b").matrix.total());
  EXPECT_THROW(communication_of(both, By::kRank, "c"), InputError);
  EXPECT_THROW(communication_of(spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n", "x.yaml"), By::kRank), InputError);
}

TEST(CommunicationMatrix, IsWrittenAsCsv) {
  const CommunicationMatrix m{{"a", "b,c"}, {0, 5, 7, 0}};
  EXPECT_EQ(csv(m), "from,a,\"b,c\"\na,0,5\n\"b,c\",7,0\n");
}

TEST(CommunicationMatrix, IsDrawn) {
  const CommunicationMatrix m{{"a", "b<c"}, {0, 5, 7, 0}};
  const std::string picture = svg(m, "t & u");
  EXPECT_EQ(picture::read_xml(picture).error, "");
  EXPECT_THAT(picture, HasSubstr("<title>a to b&lt;c: 5 B</title>"));
  EXPECT_THAT(picture, HasSubstr("#004488")) << "the most";
  // Of many ranks several share a square.
  CommunicationMatrix many;
  for (int i = 0; i < 1000; ++i) many.names.push_back("r" + std::to_string(i));
  many.bytes.assign(1'000'000, 1);
  EXPECT_LT(svg(many, "t").size(), 20'000'000u);
  EXPECT_THAT(svg(many, "t"), HasSubstr("each square is 4 x 4 of 1000"));
}

// Two hosts of four GPUs: `what` is a job or a trace of theirs.
spec::Lab two_hosts(const std::string& what) {
  return spec::parse("name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1 }\n"
                     "hosts: { default: { gpus: 4, scale-up: { rate: 800Gbps } } }\n" + what + "\n", "x.yaml");
}

// What a job sends, and what its schedule in GOAL sends as a trace.
TEST(CommunicationMatrix, OfAJobIsThatOfItsScheduleAsATrace) {
  for (const std::string job : {"parallelism: { tp: 4, dp: 2 }", "parallelism: { tp: 2, pp: 2, dp: 2 }, microbatches: 4, sharding: zero-1",
                           "parallelism: { cp: 2, dp: 4 }, sharding: zero-3",
                           "parallelism: { tp: 2, dp: 4, order: [dp, tp, cp, pp] }, protocol: ll"}) {
    const spec::Lab lab = two_hosts("jobs: [ { name: j, model: gpt2-124m, segments: 2, sequence: 64, " + job + " } ]");
    const spec::CollectiveSpec& said = lab.collectives[0];
    const test::TemporaryFile file("step.goal");
    file.put(jobs::write_goal(jobs::expanded(spec::ordinary_step(said), spec::trace_options(lab, said))));
    const auto before = communication_of(lab, By::kRank);
    const auto after = communication_of(two_hosts("collectives: [ { name: j, trace: " + file.name() + " } ]"), By::kRank);
    EXPECT_GT(before.matrix.total(), 0u);
    EXPECT_EQ(after.matrix.names, before.matrix.names) << job;
    EXPECT_EQ(after.matrix.bytes, before.matrix.bytes) << job;
  }
}

}  // namespace
}  // namespace railyard::matrix
