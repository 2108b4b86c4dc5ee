// Workloads of SimAI: groups of ranks, the order of layers, and what is wrong is said with its line.
#include "control/jobs/simai.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/jobs/compile.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using testing::ElementsAre;

std::string header(const std::string& more) { return "HYBRID_TRANSFORMER_FWD_IN_BCKWD " + more + " checkpoints: 0 checkpoint_initiates: 0\n"; }

JobGraph read(const std::string& text) {
  auto graph = read_simai(text);
  EXPECT_TRUE(graph) << graph.error().line << ": " << graph.error().text;
  const auto matches = check(*graph);
  EXPECT_TRUE(matches) << matches.error().text;
  EXPECT_EQ(compile(*graph, *matches, {}).size(), graph->ranks.size());
  return std::move(*graph);
}

std::string error_of(const std::string& text) {
  const auto graph = read_simai(text);
  return graph ? "" : std::to_string(graph.error().line) + ": " + graph.error().text;
}

std::vector<std::string> labels(const JobGraph& graph, std::size_t rank) {
  std::vector<std::string> out;
  for (const Operation& o : graph.ranks[rank]) out.push_back(graph.labels[o.label]);
  return out;
}

TEST(SimAi, GoesForwardThroughTheLayersAndBack) {
  const JobGraph g = read(header("model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 2 ga: 1 all_gpus: 4") +
                          "2\n"
                          "a -1 100 ALLREDUCE 4096 200 ALLGATHER 8192 300 ALLREDUCE 65536 50\n"
                          "b\t-1\t10\tNONE\t0\t20\tNONE\t0\t30\tNONE\t0\t0\n");
  ASSERT_EQ(g.ranks.size(), 4u);
  EXPECT_THAT(labels(g, 3), ElementsAre("a forward", "a forward", "b forward", "b input gradient", "b weight gradient",
                                        "a input gradient", "a input gradient", "a weight gradient", "a weight gradient", "a update"));
  const auto& own = g.ranks[3];
  EXPECT_EQ(own[0].time, Duration{100'000});
  EXPECT_THAT(own[1].after, ElementsAre(0u));
  EXPECT_THAT(own[2].after, ElementsAre(1u)) << "communication of the forward pass is waited for";
  EXPECT_EQ(own[8].kind, Kind::kCollective);
  EXPECT_THAT(own[9].after, ElementsAre(8u)) << "the update is for the sum of the gradients";
  const Collective& tensor = g.collectives[own[1].collective];
  EXPECT_THAT(g.communicators[tensor.communicator], ElementsAre(2u, 3u));
  const Collective& data = g.collectives[own[8].collective];
  EXPECT_THAT(g.communicators[data.communicator], ElementsAre(1u, 3u));
  EXPECT_EQ(data.octets, 65536u);
}

// Weight gradients of one layer are summed while the next one computes.
TEST(SimAi, DoesNotWaitForWeightGradients) {
  const JobGraph g = read(header("model_parallel_NPU_group: 1 ep: 1 pp: 1 all_gpus: 2") +
                          "2\na -1 0 NONE 0 5 NONE 0 0 NONE 0 0\nb -1 0 NONE 0 0 NONE 0 7 ALLREDUCE 4096 0\n");
  const auto& own = g.ranks[0];
  ASSERT_EQ(own.size(), 3u);
  EXPECT_EQ(own[1].kind, Kind::kCollective);
  EXPECT_THAT(own[2].after, ElementsAre(0u));
}

TEST(SimAi, HasGroupsOfExperts) {
  const JobGraph g = read(header("model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8") +
                          "1\nmoe -1 1 ALLTOALL_EP 4096 1 ALLTOALL_EP 4096 1 ALLREDUCE_DP_EP 4096 0\n");
  const auto& own = g.ranks[5];
  std::vector<std::vector<std::uint32_t>> groups;
  for (const Operation& o : own)
    if (o.kind == Kind::kCollective) groups.push_back(g.communicators[g.collectives[o.collective].communicator]);
  EXPECT_THAT(groups, ElementsAre(ElementsAre(5u, 7u), ElementsAre(5u, 7u), ElementsAre(1u, 5u)));
}

// Each stage has its own groups.
TEST(SimAi, KeepsStagesApart) {
  const JobGraph g = read(header("model_parallel_NPU_group: 1 ep: 1 pp: 2 all_gpus: 4 pp_comm: 8192.0") + "1\nx -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 0\n");
  EXPECT_THAT(g.communicators, ElementsAre(ElementsAre(0u, 1u), ElementsAre(2u, 3u)));
}

TEST(SimAi, ReadsTheFormatsOfAstraSim) {
  const std::string layer = "1\nx -1 3 ALLREDUCE 64 4 ALLREDUCE 64 5 ALLREDUCE 128 0\n";
  EXPECT_THAT(read("DATA all_gpus: 3\n" + layer).communicators, ElementsAre(ElementsAre(0u, 1u, 2u)));
  EXPECT_EQ(read("DATA all_gpus: 3\n" + layer).collectives.size(), 1u) << "no tensor-parallel groups";
  EXPECT_EQ(read("MODEL all_gpus: 3\n" + layer).collectives.size(), 2u);
  const JobGraph micro = read("MICRO all_gpus: 3\n" + layer);
  EXPECT_EQ(micro.collectives.size(), 1u);
  EXPECT_EQ(micro.collectives[0].octets, 128u);
}

TEST(SimAi, SaysWhatIsWrongAndWhere) {
  const std::string ok = header("model_parallel_NPU_group: 2 ep: 1 pp: 1 all_gpus: 4");
  EXPECT_EQ(error_of(ok + "x\n"), "2: found 'x'; expected the number of layers");
  EXPECT_EQ(error_of(ok + "2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"), "3: 1 layers; expected 2, as line 2 says");
  EXPECT_EQ(error_of(ok + "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\nb -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"),
            "4: a line behind the last of 1 layers; expected the end");
  EXPECT_EQ(error_of(ok + "1\na -1 1 NONE\n"), "3: 4 words; expected 12 for a layer");
  EXPECT_EQ(error_of(ok + "1\na -1 1 ALLSUM 8 1 NONE 0 1 NONE 0 1\n"),
            "3: found 'ALLSUM'; expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, also with _EP or _DP_EP");
  EXPECT_EQ(error_of(ok + "1\na -1 -5 NONE 0 1 NONE 0 1 NONE 0 1\n"), "3: found '-5'; expected a time in ns up to 1000000000000000");
  EXPECT_EQ(error_of(ok + "1\na -1 1 ALLREDUCE 99999999999999999999 1 NONE 0 1 NONE 0 1\n"),
            "3: found '99999999999999999999'; expected bytes up to 1099511627776");
  EXPECT_EQ(error_of("HYBRID_DLRM all_gpus: 4\n1\n").substr(0, 67), "1: found 'HYBRID_DLRM'; expected HYBRID_TRANSFORMER_FWD_IN_BCKWD or");
  EXPECT_EQ(error_of(header("model_parallel_NPU_group: 2")), "1: all_gpus: missing; expected the number of ranks, 2 to 65536");
  EXPECT_EQ(error_of(header("model_parallel_NPU_group: 3 all_gpus: 4")), "1: all_gpus: 4 is not a multiple of model_parallel_NPU_group 3 x pp 1");
  EXPECT_EQ(error_of(header("model_parallel_NPU_group: 1 ep: 3 all_gpus: 4")), "1: ep: 3 does not divide the 4 data-parallel ranks");
  EXPECT_EQ(error_of(header("model_parallel_NPU_group: 0 ep: 2 pp: 1 all_gpus: 8")), "1: model_parallel_NPU_group: 0; expected 1 or more");
  EXPECT_EQ(error_of(header("model_parallel_NPU_group: 1 ep: 0 all_gpus: 8")), "1: ep: 0; expected 1 or more");
  EXPECT_EQ(error_of(header("model_parallel_NPU_group: 1 pp: 0 all_gpus: 8")), "1: pp: 0; expected 1 or more");
  EXPECT_EQ(error_of("MODEL all_gpus: 4 checkpoints: 2\n"), "1: checkpoints: 2; expected 0: recomputing is not supported");
}

}  // namespace
}  // namespace railyard::jobs
