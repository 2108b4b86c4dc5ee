// Traces in GOAL: what is read, and what is wrong is said with its line.
#include "control/jobs/goal.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using testing::ElementsAre;

TEST(Goal, HasOperationsAndWhatTheyWaitFor) {
  const auto graph = read_goal(R"(// a ping-pong
num_ranks 2

rank 0 {
l1: calc 1500 cpu 1
l2: send 4096b to 1 tag 7 cpu 0 nic 0
/* the answer
   comes back */ l3: recv 8 b from 1
l2 requires l1
l3 irequires l2
}
rank 1 { 
a: recv 4096b from 0 tag 7
send 8b to 0
}
)");
  ASSERT_TRUE(graph) << graph.error().line << ": " << graph.error().text;
  ASSERT_EQ(graph->ranks.size(), 2u);
  const auto& zero = graph->ranks[0];
  ASSERT_EQ(zero.size(), 3u);
  EXPECT_EQ(zero[0].kind, Kind::kCompute);
  EXPECT_EQ(zero[0].time, Duration{1'500'000});
  EXPECT_EQ(zero[0].stream, 1);
  EXPECT_EQ(zero[1].kind, Kind::kSend);
  EXPECT_EQ(zero[1].octets, 4096u);
  EXPECT_EQ(zero[1].peer, 1u);
  EXPECT_EQ(zero[1].tag, 7u);
  EXPECT_THAT(zero[1].after, ElementsAre(0u));
  EXPECT_EQ(zero[2].kind, Kind::kReceive);
  EXPECT_THAT(zero[2].with, ElementsAre(1u));
  EXPECT_EQ(zero[2].line, 8);
  ASSERT_EQ(graph->ranks[1].size(), 2u);
  EXPECT_EQ(graph->octets(), 4104u);
  EXPECT_EQ(graph->operations(), 5u);
}

std::string error_of(const std::string& text) {
  const auto graph = read_goal(text);
  if (!graph) return std::to_string(graph.error().line) + ": " + graph.error().text;
  const auto matches = check(*graph);
  return matches ? "" : std::to_string(matches.error().line) + ": " + matches.error().text;
}
std::string error_in(const std::string& zero, const std::string& one = "") {
  return error_of("num_ranks 2\nrank 0 {\n" + zero + "\n}\nrank 1 {\n" + one + "\n}\n");
}

TEST(GoalErrors, NameTheLine) {
  EXPECT_EQ(error_of(""), "0: num_ranks is missing");
  EXPECT_EQ(error_of("num_ranks 1\n"), "1: num_ranks 1; expected at least 2");
  EXPECT_EQ(error_of("num_ranks x\n"), "1: found 'x'; expected the number of ranks, a number up to 65536");
  EXPECT_EQ(error_of("rank 0 {\n}\n"), "1: a rank before num_ranks; expected num_ranks first");
  EXPECT_EQ(error_of("num_ranks 2\nrank 2 {\n"), "2: found '2'; expected a rank, a number up to 1");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\ncalc 1\n"), "3: rank 0 has no end; expected }");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n"), "4: rank 0 is given twice; expected it once");
  EXPECT_EQ(error_of("// a\nnum_ranks 3\nrank 0 {\n}\nrank 1 {\n}\n"),
            "2: num_ranks 3, but rank 2 is missing; expected a block of each rank, which may be empty: rank 2 { }");
  EXPECT_EQ(error_of("num_ranks 3\nrank 0 {\n}\nrank 1 {\n}\nrank 2 { }\n"), "");
  EXPECT_EQ(error_of("num_ranks 2\n/* no end\n"), "2: this comment has no end; expected */");
  EXPECT_EQ(error_in("l1: clac 5"), "3: found 'clac'; expected calc, send or recv");
  EXPECT_EQ(error_in("l1: calc -5"), "3: found '-5'; expected nanoseconds, a number up to 1000000000000000");
  EXPECT_EQ(error_in("send 5 to 1"), "3: found '5'; expected bytes, a number up to 1099511627776 followed by 'b'");
  EXPECT_EQ(error_in("send 5b from 1"), "3: found 'from'; expected to");
  EXPECT_EQ(error_in("recv 5b from -1"), "3: a receive from any rank (-1); expected the rank that sends");
  EXPECT_EQ(error_in("recv 5b from 1 tag -1"), "3: a receive with any tag (-1); expected the tag of the send");
  EXPECT_EQ(error_in("l1: calc 1\nl1: calc 2"), "4: label 'l1' is given twice in rank 0; expected it once");
  EXPECT_EQ(error_in("l1: calc 1\nl1 requires l2"), "4: label 'l2' is not known in rank 0; expected one of a line above");
  EXPECT_EQ(error_in("l1: calc 1\nl1 requires l1"), "4: 'l1' waits for itself; expected another label");
  EXPECT_EQ(error_in("send 99999999999999999999b to 1"), "3: found '99999999999999999999b'; expected bytes, a number up to 1099511627776 followed by 'b'");
}

TEST(GoalErrors, OfMessagesThatDoNotFit) {
  EXPECT_EQ(error_in("send 5b to 1 tag 3"), "3: rank 0 sends a message to rank 1 with tag 3 that is not received");
  EXPECT_EQ(error_in("", "recv 5b from 0"), "6: rank 1 receives a message from rank 0 with tag 0 that is not sent");
  EXPECT_EQ(error_in("send 8b to 1", "recv 5b from 0"),
            "6: receives 5 bytes, but rank 0 sends 8 (line 3); expected as much");
  EXPECT_EQ(error_in("send 8b to 0"), "3: rank 0 and itself; expected another rank");
  EXPECT_EQ(error_in("send 8b to 1\nsend 4b to 1", "recv 8b from 0\nrecv 4b from 0"), "");
}

TEST(GoalErrors, OfCircles) {
  EXPECT_EQ(error_in("a: calc 1\nb: calc 1\na requires b\nb requires a"),
            "3: operations wait for each other in a circle; one of them is this one of rank 0");
  // Both wait for the other's message before they send their own.
  EXPECT_EQ(error_in("r: recv 4b from 1\ns: send 4b to 1\ns requires r", "r: recv 4b from 0\ns: send 4b to 0\ns requires r"),
            "3: operations wait for each other in a circle; one of them is this one of rank 0");
}

}  // namespace
}  // namespace railyard::jobs
