// Logs of NCCL: which ranks there are, what each does in which order, and what is wrong is said with its line.
#include "control/jobs/nccl_log.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/collectives/registry.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

// A process is a device of node1; its communicators are named by address.
std::string info(int device, const std::string& text) { return fmt::format("node1:{0}:{0} [{1}] NCCL INFO {2}\n", 100 + device, device, text); }
std::string begin(int device, int comm, int rank, int ranks, int id) {
  return info(device, fmt::format("ncclCommInitRank comm 0x{:x} rank {} nranks {} cudaDev {} nvmlDev 0 busId 1b000 commId 0x{:x} - Init START", comm, rank, ranks, device, id));
}
std::string split(int device, int comm, int rank, int ranks, int parent, int count, int color) {
  return info(device, fmt::format("ncclCommSplit comm 0x{:x} rank {} nranks {} cudaDev {} nvmlDev 0 busId 1b000 parent 0x{:x} splitCount {} color {} key {}- Init START",
                                  comm, rank, ranks, device, parent, count, color, rank));
}
std::string operation(int device, const std::string& name, int comm, int ranks, int op_count, std::uint64_t count, int datatype = 7, int root = 0, int stream = 1) {
  return info(device, fmt::format("{}: opCount {:x} sendbuff 0x1 recvbuff 0x2 count {} datatype {} op 0 root {} comm 0x{:x} [nranks={}] stream 0x{:x}",
                                  name, op_count, count, datatype, root, comm, ranks, stream));
}
std::string two() { return begin(0, 0xa, 0, 2, 7) + begin(1, 0xb, 1, 2, 7); }

JobGraph read(const std::string& text) {
  auto graph = read_nccl_log(text);
  EXPECT_TRUE(graph) << graph.error().line << ": " << graph.error().text;
  const auto matches = check(*graph);
  EXPECT_TRUE(matches) << matches.error().text;
  return std::move(*graph);
}
std::string error_of(const std::string& text) {
  const auto graph = read_nccl_log(text);
  return graph ? "" : std::to_string(graph.error().line) + ": " + graph.error().text;
}

TEST(NcclLog, HasTheCollectivesOfEachRankInTheirOrder) {
  const JobGraph g = read("some other line\n" + two() + operation(0, "AllReduce", 0xa, 2, 0, 1000) + operation(0, "AllGather", 0xa, 2, 1, 500, 9) +
                          operation(1, "AllReduce", 0xb, 2, 0, 1000) + info(1, "Channel 00/02 : 0 1") + operation(1, "AllGather", 0xb, 2, 1, 500, 9));
  ASSERT_EQ(g.ranks.size(), 2u);
  ASSERT_EQ(g.collectives.size(), 2u);
  EXPECT_EQ(g.collectives[0].octets, 4000u);
  EXPECT_EQ(g.collectives[1].octets, 2000u) << "2 octets, of each of 2 ranks";
  for (const auto& own : g.ranks) {
    ASSERT_EQ(own.size(), 2u);
    EXPECT_THAT(own[1].after, ElementsAre(0u));
  }
  EXPECT_EQ(g.labels[g.ranks[0][0].label], "AllReduce");
}

TEST(NcclLog, NumbersRanksByTheLargestCommunicator) {
  std::string log;
  for (int d = 0; d < 4; ++d) log += begin(d, 0xa0 + d, 3 - d, 4, 1);
  // Two pairs: devices 0 and 1, 2 and 3.
  for (int d = 0; d < 4; ++d) log += begin(d, 0xb0 + d, d % 2, 2, 2 + d / 2);
  for (int d = 0; d < 4; ++d) log += operation(d, "AllReduce", 0xb0 + d, 2, 0, 8);
  const JobGraph g = read(log);
  EXPECT_THAT(g.communicators, ElementsAre(ElementsAre(3u, 2u), ElementsAre(1u, 0u)));
}

// One process with two devices, whose communicators have the same address; threads differ from line to line.
TEST(NcclLog, WhatLaunchersPutBeforeALineIsSkipped) {
  const auto log = [](const std::string& begin, const std::string& then) {
    std::string all;
    for (int d = 0; d < 2; ++d)
      all += fmt::format("{}node1:100:{} [{}] NCCL INFO ncclCommInitRank comm 0xa rank {} nranks 2 cudaDev {} nvmlDev 0 busId 1b000 commId 0x7 - Init START\n",
                         begin, 200 + d, d, d, d);
    for (int d = 0; d < 2; ++d)
      all += fmt::format("{}node1:100:100 [{}] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 0 root 0 comm 0xa [nranks=2] stream 0x1\n",
                         then, d);
    return all;
  };
  for (const std::string before : {"", "[default0]:", "[1,0]<stdout>:", "0: ", "[2025-03-01 10:11:12] ", "[default0]:[2025-03-01 10:11:12] "}) {
    SCOPED_TRACE(before);
    const JobGraph g = read(log(before, before));
    EXPECT_EQ(g.ranks.size(), 2u);
    EXPECT_EQ(g.collectives.size(), 1u);
  }
  EXPECT_EQ(read(log("[2025-03-01 10:11:12] ", "[2025-03-01 10:11:13] ")).ranks.size(), 2u);
  EXPECT_EQ(read(log("[1,0]<stdout>:", "[1,0]<stderr>:")).ranks.size(), 2u);
}

TEST(NcclLog, SplitsAreKnownByParentCountAndColor) {
  std::string log;
  for (int d = 0; d < 4; ++d) log += begin(d, 0xa0 + d, d, 4, 1);
  // Two pairs, then two others of the same colors.
  for (int d = 0; d < 4; ++d) log += split(d, 0xb0 + d, d % 2, 2, 0xa0 + d, 1, d / 2);
  for (int d = 0; d < 4; ++d) log += split(d, 0xc0 + d, d / 2, 2, 0xa0 + d, 2, d % 2);
  // Before NCCL 2.21 this is how a split ends.
  log += begin(0, 0xb0, 0, 2, 0);
  for (int d = 0; d < 4; ++d) log += operation(d, "AllReduce", 0xb0 + d, 2, 0, 8) + operation(d, "AllReduce", 0xc0 + d, 2, 1, 8);
  EXPECT_THAT(read(log).communicators, testing::UnorderedElementsAre(ElementsAre(0u, 1u), ElementsAre(2u, 3u), ElementsAre(0u, 2u), ElementsAre(1u, 3u)));
}

TEST(NcclLog, ASplitCanBeSplit) {
  std::string log;
  for (int d = 0; d < 4; ++d) log += begin(d, 0xa0 + d, d, 4, 1);
  for (int d = 0; d < 4; ++d) log += split(d, 0xb0 + d, 3 - d, 4, 0xa0 + d, 1, 0);
  for (int d = 0; d < 4; ++d) log += split(d, 0xc0 + d, d % 2, 2, 0xb0 + d, 1, d / 2);
  for (int d = 0; d < 4; ++d) log += operation(d, "Broadcast", 0xc0 + d, 2, 0, 8) + operation(d, "AllReduce", 0xb0 + d, 4, 0, 8);
  EXPECT_THAT(read(log).communicators,
              testing::UnorderedElementsAre(ElementsAre(0u, 1u), ElementsAre(2u, 3u), ElementsAre(3u, 2u, 1u, 0u)));
}

TEST(NcclLog, SaysWhatIsWrongWithASplit) {
  EXPECT_THAT(error_of(two() + split(0, 0xc, 0, 2, 0xdead, 1, 0)),
              HasSubstr("3: ncclCommSplit: parent 0xdead of this process has no line of its beginning"));
  EXPECT_THAT(error_of(two() + split(0, 0xc, 0, 2, 0xa, 1, -3)), HasSubstr("3: ncclCommSplit: no splitCount and color"));
  EXPECT_THAT(error_of(two() + begin(0, 0xc, 0, 2, 0)), HasSubstr("3: commId 0x0: a communicator of ncclCommSplit without its parent"));
  EXPECT_THAT(error_of(two() + split(0, 0xc, 0, 2, 0xa, 1, 5) + operation(0, "AllReduce", 0xc, 2, 0, 8)),
              HasSubstr("1 of 2 ranks of ncclCommSplit (color 5, splitCount 1) of commId 0x7 are in this log, not rank 1"));
}

TEST(NcclLog, StreamsGoBesideEachOther) {
  const JobGraph g = read(two() + operation(0, "AllReduce", 0xa, 2, 0, 8, 7, 0, 1) + operation(0, "AllReduce", 0xa, 2, 1, 8, 7, 0, 2) +
                          operation(1, "AllReduce", 0xb, 2, 0, 8, 7, 0, 1) + operation(1, "AllReduce", 0xb, 2, 1, 8, 7, 0, 2));
  EXPECT_TRUE(g.ranks[0][1].after.empty());
}

// As in ncclGroupStart() and ncclGroupEnd(): both receive first, which is no circle.
TEST(NcclLog, SendsAndReceivesOfAGroupGoAtOnce) {
  std::string log = two();
  for (int d = 0; d < 2; ++d)
    log += operation(d, "Recv", 0xa + d, 2, 0, 64, 0, 1 - d) + operation(d, "Send", 0xa + d, 2, 0, 64, 0, 1 - d) +
           operation(d, "AllReduce", 0xa + d, 2, 1, 8);
  const JobGraph g = read(log);
  const auto& own = g.ranks[0];
  EXPECT_EQ(own[0].kind, Kind::kReceive);
  EXPECT_EQ(own[0].octets, 64u);
  EXPECT_EQ(own[0].peer, 1u);
  EXPECT_TRUE(own[1].after.empty());
  EXPECT_THAT(own[2].after, ElementsAre(0u, 1u));
}

TEST(NcclLog, KnowsWhichAlgorithmAndProtocolWereTaken) {
  const std::string old = info(0, "4000 Bytes -> Algo 0 proto 1 time 54.707825");  // rank 0 alone says it
  const JobGraph g = read(two() + operation(0, "AllReduce", 0xa, 2, 0, 1000) + old + operation(0, "AllReduce", 0xa, 2, 1, 1000) +
                          info(0, "AllReduce: 4000 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}") +
                          operation(0, "AllGather", 0xa, 2, 2, 500) + operation(1, "AllReduce", 0xb, 2, 0, 1000) +
                          operation(1, "AllReduce", 0xb, 2, 1, 1000) + operation(1, "AllGather", 0xb, 2, 2, 500));
  ASSERT_EQ(g.collectives.size(), 3u);
  EXPECT_EQ(g.collectives[0].algorithm, &collectives::kRing) << "what names the operation goes before what does not";
  EXPECT_EQ(g.collectives[1].algorithm, &collectives::kRing);
  EXPECT_EQ(g.collectives[1].protocol, collectives::Protocol::kSimple);
  EXPECT_EQ(g.collectives[2].algorithm, &collectives::kTree) << "4000 bytes of two ranks: a line without a name";
  const JobGraph alone = read(two() + operation(0, "AllReduce", 0xa, 2, 0, 1000) + old + operation(1, "AllReduce", 0xb, 2, 0, 1000));
  EXPECT_EQ(alone.collectives[0].algorithm, &collectives::kTree);
  EXPECT_EQ(alone.collectives[0].protocol, collectives::Protocol::kLl128);
  EXPECT_THAT(error_of(two() + info(0, "4000 Bytes -> Algo 9 proto 1")), HasSubstr("3: this choice has no size, algorithm and protocol"));
  EXPECT_THAT(error_of(two() + info(0, "AllReduce: x Bytes -> Algo RING proto LL")), HasSubstr("3: this choice"));
}

TEST(NcclLog, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of("NCCL INFO nothing\n"), HasSubstr("no operation in this log; expected NCCL_DEBUG=INFO"));
  EXPECT_THAT(error_of(two() + operation(0, "AllReduce", 0xc, 2, 0, 8)), HasSubstr("3: comm 0xc of this process has no line of its beginning"));
  EXPECT_THAT(error_of(two() + operation(0, "AllReduce", 0xa, 4, 0, 8)), HasSubstr("3: nranks=4, but its communicator has 2 ranks (line 1)"));
  EXPECT_THAT(error_of(two() + operation(0, "AllMax", 0xa, 2, 0, 8)), HasSubstr("3: operation 'AllMax'; expected AllReduce, AllGather"));
  EXPECT_THAT(error_of(two() + operation(0, "AllReduce", 0xa, 2, 0, 8, 99)), HasSubstr("3: datatype 99; expected 0..11"));
  EXPECT_THAT(error_of(two() + operation(0, "AllGather", 0xa, 2, 0, 1ull << 40)), HasSubstr("3: count 1099511627776; expected at most"));
  EXPECT_THAT(error_of(two() + operation(0, "Send", 0xa, 2, 0, 8, 7, 5)), HasSubstr("3: root 5; expected 0..1"));
  EXPECT_THAT(error_of(begin(0, 0xa, 0, 2, 7) + operation(0, "AllReduce", 0xa, 2, 0, 8)),
              HasSubstr("1 of 2 ranks of commId 0x7 are in this log, not rank 1"));
  EXPECT_THAT(error_of(begin(0, 0xa, 0, 2, 7) + begin(1, 0xb, 0, 2, 7)), HasSubstr("2: rank 0 of commId 0x7 is another process already"));
  EXPECT_THAT(error_of(two() + operation(0, "AllReduce", 0xa, 2, 0, 8) + operation(1, "AllReduce", 0xb, 2, 0, 9)),
              HasSubstr("4: AllReduce of 36 bytes, but another rank does AllReduce of 32 bytes (line 3)"));
  EXPECT_EQ(error_of(two() + operation(0, "Send", 0xa, 2, 0, 8, 7, 1)), "3: rank 0 sends a message to rank 1 of commId 0x7 that is not received");
  EXPECT_EQ(error_of(two() + operation(1, "Recv", 0xb, 2, 0, 8, 7, 0)), "3: rank 1 receives a message from rank 0 of commId 0x7 that is not sent");
  // A rank that does not take part: check() finds it.
  const auto graph = read_nccl_log(two() + operation(0, "AllReduce", 0xa, 2, 0, 8));
  ASSERT_TRUE(graph);
  EXPECT_THAT(check(*graph).error().text, HasSubstr("1 of 2 ranks take part"));
}

}  // namespace
}  // namespace railyard::jobs
