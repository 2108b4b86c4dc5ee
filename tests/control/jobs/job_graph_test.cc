// Which ends of messages belong together.
#include "control/jobs/job_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using testing::ElementsAre;

Operation send(std::uint32_t to, std::uint32_t tag, std::uint64_t octets = 4) {
  return {.kind = Kind::kSend, .peer = to, .tag = tag, .octets = octets};
}
Operation receive(std::uint32_t from, std::uint32_t tag, std::uint64_t octets = 4) {
  return {.kind = Kind::kReceive, .peer = from, .tag = tag, .octets = octets};
}

TEST(JobGraph, MessagesOfOneTagMeetInTheirOrder) {
  JobGraph g;
  g.ranks = {{send(1, 5), send(1, 6), send(1, 5)}, {receive(0, 6), receive(0, 5), receive(0, 5)}};
  const auto m = check(g);
  ASSERT_TRUE(m) << m.error().text;
  EXPECT_THAT((*m)[0], ElementsAre(1u, 0u, 2u));
  EXPECT_THAT((*m)[1], ElementsAre(1u, 0u, 2u));
}

TEST(JobGraph, MessagesAreWholeElements) {
  EXPECT_EQ(message_octets(0), 4u);
  EXPECT_EQ(message_octets(1), 4u);
  EXPECT_EQ(message_octets(4), 4u);
  EXPECT_EQ(message_octets(4097), 4100u);
}

TEST(JobGraph, AReceiveMayHaveRoomForMore) {
  JobGraph g;
  g.ranks = {{send(1, 0, 100)}, {receive(0, 0, 4096)}};
  EXPECT_TRUE(check(g));
  EXPECT_EQ(g.octets(), 100u);
}

}  // namespace
}  // namespace railyard::jobs
