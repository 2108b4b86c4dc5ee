#include "dataplane/switch/path/flowlet.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

constexpr std::uint32_t kSamePlace = FlowletTable::kEntries;  // apart: another flow, the same place in the table
constexpr std::uint16_t kTaken = 0xFFFE;

class FlowletTableTest : public ::testing::Test {
 protected:
  // The member that a packet finds, kNone at the start of a flowlet, or kTaken.
  std::uint16_t find(std::uint32_t flow, Duration now) {
    const FlowletTable::Entry* e = table.at(flow, Instant{} + now, 10_us);
    return e == nullptr ? kTaken : e->member;
  }
  void put(std::uint32_t flow, Duration now, std::uint16_t member) {
    FlowletTable::Entry* e = table.at(flow, Instant{} + now, 10_us);
    ASSERT_NE(e, nullptr);
    e->member = member;
  }
  FlowletTable table;
};

TEST_F(FlowletTableTest, AFlowFindsItsMemberAgainWithinTheGap) {
  EXPECT_EQ(find(7, 0_ns), FlowletTable::kNone) << "a new flowlet";
  put(7, 0_ns, 3);
  EXPECT_EQ(find(7, 10_us), 3);
  EXPECT_EQ(find(7, 20_us), 3) << "from the last packet, not from the first";
  EXPECT_EQ(find(7, 30'001_ns), FlowletTable::kNone);
}

TEST_F(FlowletTableTest, APlaceBelongsToOneFlowUntilItIsSilent) {
  put(7, 0_ns, 3);
  EXPECT_EQ(find(7 + kSamePlace, 1_us), kTaken);
  EXPECT_EQ(find(7, 5_us), 3) << "and it was left as it was";
  EXPECT_EQ(find(7 + kSamePlace, 16_us), FlowletTable::kNone) << "free after a gap";
  put(7 + kSamePlace, 16_us, 5);
  EXPECT_EQ(find(7, 17_us), kTaken);
}

TEST_F(FlowletTableTest, AClearedTableKnowsNoFlow) {
  put(7, 0_ns, 3);
  table.clear();
  EXPECT_EQ(find(7, 1_us), FlowletTable::kNone);
}

}  // namespace
}  // namespace railyard
