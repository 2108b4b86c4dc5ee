#include "dataplane/switch/path/spray.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(Spray, PacketsTakeTheMembersInTurn) {
  Spray spray(RngStream(Seed{1}, "spray_test"));
  const std::uint32_t first = spray.choose(0, 5);
  ASSERT_LT(first, 5u);
  for (std::uint32_t i = 1; i < 100; ++i) EXPECT_EQ(spray.choose(0, 5), (first + i) % 5);
}

TEST(Spray, GroupsTakeTheirTurnsApart) {
  Spray together(RngStream(Seed{1}, "spray_test"));
  const std::uint32_t a = together.choose(3, 4);
  const std::uint32_t b = together.choose(900, 7);
  for (std::uint32_t i = 1; i < 50; ++i) {
    EXPECT_EQ(together.choose(3, 4), (a + i) % 4);
    EXPECT_EQ(together.choose(900, 7), (b + i) % 7);
  }
}

TEST(Spray, SwitchesDoNotMarchInStep) {
  std::set<std::uint32_t> starts;
  for (int i = 0; i < 200; ++i) {
    Spray spray(RngStream(Seed{1}, "sw" + std::to_string(i) + "/spray"));
    starts.insert(spray.choose(0, 16));
  }
  EXPECT_EQ(starts.size(), 16u) << "every start occurs";
}

TEST(Spray, AGroupThatShrinksGoesOnAtItsBeginning) {
  Spray spray(RngStream(Seed{1}, "spray_test"));
  while (spray.choose(0, 8) != 6) {
  }
  EXPECT_EQ(spray.choose(0, 3), 0u);
  EXPECT_EQ(spray.choose(0, 3), 1u);
}

}  // namespace
}  // namespace railyard
