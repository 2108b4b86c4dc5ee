// Execution traces of Chakra: nodes of each rank, collectives that belong together, and what is wrong is said with its
// file and node.
#include "control/jobs/chakra.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/jobs/chakra_writer.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kMetadata = 1, kCompute = 4, kSend = 5, kReceive = 6, kCollective = 7;

std::expected<JobGraph, TraceFileError> read(const std::vector<std::string>& files, std::string_view groups = {}) {
  std::vector<ChakraFile> all;
  for (std::size_t r = 0; r < files.size(); ++r) all.push_back({"t." + std::to_string(r) + ".et", files[r]});
  return read_chakra(all, {"t.json", groups});
}
std::string error_of(const std::vector<std::string>& files, std::string_view groups = {}) {
  const auto graph = read(files, groups);
  return graph ? "" : graph.error().file + ": " + graph.error().text;
}
std::string all_reduce(std::uint64_t id, std::int64_t bytes, std::string_view group = "") {
  return node(id, "sum", kCollective, {}, attribute("comm_type", 0) + attribute("comm_size", bytes) + (group.empty() ? "" : attribute("pg_name", group)));
}
std::string message(std::uint64_t id, int type, std::int64_t peer, std::int64_t bytes) {
  return node(id, "m", type, {}, attribute(type == kSend ? "comm_dst" : "comm_src", peer) + attribute("comm_size", bytes) + attribute("comm_tag", 3));
}

TEST(Chakra, HasTheNodesOfEachRank) {
  const auto g = read({file_of({node(5, "start", kMetadata), node(7, "matmul", kCompute, {5}, micros(12)), message(9, kSend, 1, 4096)}),
                       file_of({message(1, kReceive, 0, 4096), node(2, "cpu", kCompute, {1}, micros(3) + attribute("is_cpu_op", 1))})});
  ASSERT_TRUE(g) << g.error().text;
  ASSERT_TRUE(check(*g));
  const auto& zero = g->ranks[0];
  ASSERT_EQ(zero.size(), 3u);
  EXPECT_EQ(zero[0].time, Duration{});
  EXPECT_EQ(g->labels[zero[1].label], "matmul");
  EXPECT_EQ(zero[1].time, Duration{12'000'000});
  EXPECT_THAT(zero[1].after, ElementsAre(0u));
  EXPECT_EQ(zero[2].kind, Kind::kSend);
  EXPECT_EQ(zero[2].octets, 4096u);
  EXPECT_EQ(zero[2].tag, 3u);
  EXPECT_EQ(g->ranks[1][1].stream, 1) << "CPU operations do not wait for the GPU's";
}

TEST(Chakra, DependenciesMayStandBehindOrBeforeAndTwice) {
  const auto g = read({file_of({node(1, "b", kCompute, {2, 2}, number(4, 3) + micros(1)), node(2, "a", kCompute, {}, micros(1)), node(3, "c", kCompute, {}, micros(1))}),
                       file_of({})});
  ASSERT_TRUE(g) << g.error().text;
  EXPECT_EQ(g->ranks[0][0].after.size(), 2u);
}

TEST(Chakra, TheNthCollectiveOfAGroupIsOne) {
  const auto g = read({file_of({all_reduce(1, 64, "g"), all_reduce(2, 128, "g")}), file_of({all_reduce(8, 64, "g"), all_reduce(9, 128, "g")}),
                       file_of({all_reduce(1, 64, "h")}), file_of({all_reduce(1, 64, "h")})},
                      R"({"g": [0, 1], "h": [3, 2]})");
  ASSERT_TRUE(g) << g.error().text;
  ASSERT_TRUE(check(*g));
  ASSERT_EQ(g->collectives.size(), 3u);
  EXPECT_EQ(g->ranks[0][1].collective, g->ranks[1][1].collective);
  EXPECT_THAT(g->communicators, ElementsAre(ElementsAre(0u, 1u), ElementsAre(3u, 2u)));
}

TEST(Chakra, WithoutGroupsAllRanksAreInOne) {
  const auto g = read({file_of({all_reduce(1, 64)}), file_of({all_reduce(1, 64, "0")})});
  ASSERT_TRUE(g) << g.error().text;
  EXPECT_THAT(g->communicators, ElementsAre(ElementsAre(0u, 1u)));
}

TEST(Chakra, SaysWhichNodeIsWrong) {
  const std::string other = file_of({});
  EXPECT_EQ(error_of({other}), ": 1 file of a rank; expected at least 2");
  EXPECT_EQ(error_of({other, file_of({node(4, "x", 9)})}),
            "t.1.et: node 4 (x): type 9; expected METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV or COMM_COLL (1 to 7)");
  EXPECT_EQ(error_of({file_of({node(4, "x", kCompute, {77}, micros(1))}), other}), "t.0.et: node 4 (x): depends on node 77, which is not there");
  EXPECT_EQ(error_of({file_of({node(4, "x", kCompute, {4}, micros(1))}), other}), "t.0.et: node 4 (x): depends on itself");
  EXPECT_EQ(error_of({file_of({node(4, "x", kMetadata), node(4, "x", kMetadata)}), other}), "t.0.et: node 4 (x): is given twice; expected each id once");
  EXPECT_EQ(error_of({file_of({node(4, "x", kCompute, {}, attribute("num_ops", 100))}), other}),
            "t.0.et: node 4 (x): has num_ops, which says no time; expected duration_micros");
  EXPECT_THAT(error_of({file_of({message(4, kSend, 2, 8)}), other}), HasSubstr("comm_dst 2; expected another rank, 0..1"));
  EXPECT_THAT(error_of({file_of({message(4, kSend, 1, -8)}), other}), HasSubstr("comm_size -8; expected bytes up to 1099511627776"));
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  EXPECT_THAT(error_of({file_of({node(4, "x", kSend, {}, attribute("comm_dst", 1) + unsigned_attribute("comm_size", kHuge))}), other}),
              HasSubstr("comm_size 9223372036854775808; expected bytes up to 1099511627776"));
  EXPECT_THAT(error_of({file_of({node(4, "x", kSend, {}, unsigned_attribute("comm_dst", kHuge) + attribute("comm_size", 8))}), other}),
              HasSubstr("comm_dst 9223372036854775808; expected another rank, 0..1"));
  EXPECT_THAT(error_of({file_of({node(4, "x", kCollective, {}, attribute("comm_type", 44) + attribute("comm_size", 4))}), other}), HasSubstr("comm_type 44; expected 0..9"));
  EXPECT_THAT(error_of({file_of({all_reduce(4, 8, "q")}), other}, R"({"g": [0, 1]})"), HasSubstr("pg_name q; expected a group of the file of groups"));
  EXPECT_THAT(error_of({file_of({all_reduce(4, 8)}), file_of({all_reduce(5, 16)})}),
              HasSubstr("t.1.et: node 5 (sum): all-reduce of 16 bytes, but rank 0 does all-reduce of 8 bytes (node 4)"));
  EXPECT_EQ(error_of({other, other}, R"({"g": [0, 7]})"), "t.json: group g: found 7; expected ranks 0..1");
  EXPECT_EQ(error_of({other, other}, "[1"), "t.json: no JSON; expected groups of ranks, {\"name\": [rank, ...]}");
}

TEST(Chakra, SaysWhichLineOfTheGroupsIsWrong) {
  const std::string other = file_of({});
  const auto line_of = [&](std::string_view groups) {
    const auto graph = read({other, other}, groups);
    return graph ? "" : graph.error().file + ":" + std::to_string(graph.error().line);
  };
  EXPECT_EQ(line_of("{\n  \"g\": [0, 1],\n  \"h\": [0, 2]\n}"), "t.json:3");
  EXPECT_EQ(line_of("{\n  \"g\": [0, 1]\n  \"h\": [0, 1]\n}"), "t.json:3") << "a comma is missing";
  EXPECT_EQ(line_of("{\n  \"g\": [0, 1],\n  \"h\": 1\n}"), "t.json:3");
  EXPECT_EQ(line_of("[]"), "t.json:0");
}

TEST(Chakra, ABrokenFileIsRefused) {
  const std::string whole = file_of({node(1, "x", kCompute, {}, micros(1)), all_reduce(2, 64)});
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const auto graph = read({whole.substr(0, n), whole});
    if (!graph) EXPECT_FALSE(graph.error().text.empty());
  }
  EXPECT_THAT(error_of({whole.substr(0, whole.size() - 1), whole}), HasSubstr("t.0.et: record 3 ends behind the file"));
  EXPECT_THAT(error_of({varint(0) + varint(2) + "\x0a\x7f", whole}), HasSubstr("record 2 is no node of a Chakra trace"));
}

}  // namespace
}  // namespace railyard::jobs
