#include "dataplane/wire/mac_address.h"

#include <unordered_set>

#include <gtest/gtest.h>

namespace railyard::wire {
namespace {

TEST(MacAddress, KnowsGroupsFromStations) {
  EXPECT_FALSE(MacAddress({{0x02, 0, 0, 0, 0, 1}}).is_multicast());
  EXPECT_TRUE(MacAddress({{0x01, 0x80, 0xC2, 0, 0, 1}}).is_multicast());
  EXPECT_FALSE(MacAddress({{0x01, 0x80, 0xC2, 0, 0, 1}}).is_broadcast());
  EXPECT_TRUE(kBroadcastMac.is_multicast());
  EXPECT_TRUE(kBroadcastMac.is_broadcast());
}

TEST(MacAddress, IsWrittenWithColons) {
  EXPECT_EQ(to_string(MacAddress{{0x02, 0xAB, 0, 0xFF, 0x10, 0x01}}), "02:ab:00:ff:10:01");
}

TEST(MacAddress, IsAKey) {
  const std::unordered_set<MacAddress> seen = {{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}, {{2, 0, 0, 0, 0, 1}}};
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace railyard::wire
