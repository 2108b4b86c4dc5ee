#include "dataplane/switch/path/selector.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace railyard {
namespace {

constexpr NextHops kGroup{.first = 4, .count = 8, .kind = NextHops::Kind::kGroup};
constexpr NextHops kOther{.first = 12, .count = 8, .kind = NextHops::Kind::kGroup};
constexpr PortIndex kIn{0};

class PathSelectorTest : public ::testing::Test {
 protected:
  PathSelectorTest() {
    std::array<PathPolicy, kPriorities> policies{};  // ECMP
    policies[4] = policies[5] = PathPolicy::kSpray;
    selector = PathSelector(Ecmp(1, {}), Spray(RngStream(Seed{1}, "spray")), policies);
    packet.address_hash = 123;
    packet.transport_hash = 456;
  }
  std::uint32_t choose(const NextHops& hops, std::uint8_t priority) {
    return selector.choose(hops, packet, kIn, Priority{priority});
  }

  PathSelector selector;
  Packet packet{};
};

TEST_F(PathSelectorTest, TheClassDecidesThePolicy) {
  EXPECT_EQ(choose(kGroup, 3), Ecmp(1, {}).choose(packet, kIn, 8));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(kGroup, 3), choose(kGroup, 3)) << "one flow, one path";
  std::set<std::uint32_t> sprayed;
  for (int i = 0; i < 8; ++i) sprayed.insert(choose(kGroup, 4));
  EXPECT_EQ(sprayed.size(), 8u) << "one flow, all paths";
}

TEST_F(PathSelectorTest, SprayedClassesAndGroupsTakeTurnsOfTheirOwn) {
  const std::uint32_t a = choose(kGroup, 4);
  const std::uint32_t b = choose(kGroup, 5);
  const std::uint32_t c = choose(kOther, 4);
  for (std::uint32_t i = 1; i < 20; ++i) {
    EXPECT_EQ(choose(kGroup, 4), (a + i) % 8);
    EXPECT_EQ(choose(kGroup, 5), (b + i) % 8);
    EXPECT_EQ(choose(kOther, 4), (c + i) % 8);
  }
}

TEST_F(PathSelectorTest, AGroupOfOneIsNoChoiceAndNoTurn) {
  const NextHops single{.first = 4, .count = 1, .kind = NextHops::Kind::kGroup};
  const std::uint32_t first = choose(kGroup, 4);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(choose(single, 4), 0u);
  EXPECT_EQ(choose(kGroup, 4), (first + 1) % 8);
}

}  // namespace
}  // namespace railyard
