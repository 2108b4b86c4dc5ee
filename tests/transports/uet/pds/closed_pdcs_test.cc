// PDCs that a target has closed are known for a while.
#include "transports/uet/pds/closed_pdcs.h"

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

TEST(ClosedPdcs, AreKnownByWhoOpenedThemAndWhereTheyBegan) {
  ClosedPdcs closed;
  closed.add(Instant{1}, 5, Psn(100));
  closed.add(Instant{2}, 5, Psn(200));
  EXPECT_TRUE(closed.contains(5, Psn(100)));
  EXPECT_TRUE(closed.contains(5, Psn(200))) << "one PDCID was used twice";
  EXPECT_FALSE(closed.contains(5, Psn(300)));
  EXPECT_FALSE(closed.contains(6, Psn(100)));
}

// However many are closed in that time.
TEST(ClosedPdcs, AreKnownAsLongAsPacketsMayBeUnderWay) {
  ClosedPdcs closed;
  for (std::uint32_t i = 0; i < 10'000; ++i) closed.add(Instant{i}, i, Psn(i));
  EXPECT_TRUE(closed.contains(0, Psn(0)));
  closed.add(Instant{5'000} + ClosedPdcs::kRemembered, 10'000, Psn(0));
  EXPECT_FALSE(closed.contains(0, Psn(0)));
  EXPECT_FALSE(closed.contains(5'000, Psn(5'000)));
  EXPECT_TRUE(closed.contains(5'001, Psn(5'001)));
}

TEST(ClosedPdcs, TakeNoMoreThanSoMuchMemory) {
  ClosedPdcs closed;
  for (std::uint32_t i = 0; i <= ClosedPdcs::kMost; ++i) closed.add(Instant{}, i, Psn(0));
  EXPECT_EQ(closed.size(), ClosedPdcs::kMost);
  EXPECT_FALSE(closed.contains(0, Psn(0)));
  EXPECT_TRUE(closed.contains(1, Psn(0)));
}

}  // namespace
}  // namespace railyard::uet
