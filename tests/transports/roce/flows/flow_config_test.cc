// Which octets of a flow are which message of which QP.
#include "transports/roce/flows/flow_config.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

TEST(FlowConfig, EveryOctetIsInOneMessageOfOneQp) {
  for (const std::int64_t total : {1, 99, 100, 101, 1234, 5000})
    for (const std::uint32_t qps : {1u, 2u, 3u, 7u, 60u}) {
      const FlowConfig c{.total = {total}, .message = 100, .qps = qps};
      std::vector<int> times(static_cast<std::size_t>(total), 0);
      std::uint64_t messages = 0;
      for (std::uint32_t q = 0; q < qps; ++q) {
        messages += c.messages_of(q);
        for (std::uint64_t k = 0; k < c.messages_of(q); ++k) {
          ASSERT_GE(c.octets_of(q, k), 1u);
          ASSERT_LE(c.octets_of(q, k), 100u);
          for (std::uint64_t i = 0; i < c.octets_of(q, k); ++i) ++times.at(c.offset_of(q, k) + i);
        }
      }
      EXPECT_EQ(messages, static_cast<std::uint64_t>((total + 99) / 100));
      for (const int n : times) ASSERT_EQ(n, 1) << total << " over " << qps;
    }
}

TEST(FlowConfig, WithoutATotalThereIsNoEnd) {
  const FlowConfig c{.message = 1000, .qps = 4};
  EXPECT_GT(c.messages_of(3), std::uint64_t{1} << 60);
  EXPECT_EQ(c.octets_of(3, 1'000'000'000'000), 1000u);
  EXPECT_EQ(c.offset_of(3, 2), 11'000u);
}

TEST(FlowConfig, TheSourceAsksUnlessItIsRead) {
  EXPECT_TRUE(FlowConfig{.operation = FlowOperation::kWrite}.asks(true));
  EXPECT_FALSE(FlowConfig{.operation = FlowOperation::kWrite}.asks(false));
  EXPECT_TRUE(FlowConfig{.operation = FlowOperation::kSend}.asks(true));
  EXPECT_FALSE(FlowConfig{.operation = FlowOperation::kRead}.asks(true));
  EXPECT_TRUE(FlowConfig{.operation = FlowOperation::kRead}.asks(false));
}

}  // namespace
}  // namespace railyard::roce
