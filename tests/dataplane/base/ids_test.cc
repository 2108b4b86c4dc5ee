#include "dataplane/base/ids.h"

#include <concepts>
#include <cstdint>
#include <unordered_set>

#include <gtest/gtest.h>

namespace railyard {
namespace {

template <class A, class B>
concept ComparableIds = requires(A a, B b) {
  a == b;
};

// One kind of index is not another, and not a number.
static_assert(!std::convertible_to<DeviceId, PortIndex> && !std::convertible_to<PortIndex, Priority>);
static_assert(!std::convertible_to<int, DeviceId> && !std::convertible_to<DeviceId, int>);
static_assert(!ComparableIds<DeviceId, Fec> && !ComparableIds<PortIndex, Priority> && !ComparableIds<DeviceId, int>);
static_assert(sizeof(DeviceId) == 4 && sizeof(PortIndex) == 2 && sizeof(Priority) == 1 && sizeof(WorkerId) == 1);

TEST(Ids, AreOrderedByValueAndIndexArrays) {
  EXPECT_EQ(PortIndex{3}, PortIndex{3});
  EXPECT_NE(PortIndex{3}, PortIndex{4});
  EXPECT_LT(PortIndex{3}, PortIndex{4});
  EXPECT_EQ(PortIndex{65535}.index(), 65535u);
  EXPECT_EQ(DeviceId{}.index(), 0u);
}

TEST(Ids, AreKeysOfHashTables) {
  std::unordered_set<DeviceId> seen = {DeviceId{1}, DeviceId{2}, DeviceId{1}};
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen.contains(DeviceId{2}));
  EXPECT_FALSE(seen.contains(DeviceId{3}));
}

TEST(Ids, EveryPriorityHasABitOfItsOwn) {
  unsigned mask = 0;
  for (std::uint8_t p = 0; p < kPriorities; ++p) {
    EXPECT_EQ(mask & bit(Priority{p}), 0u);
    EXPECT_EQ(bit(Priority{p}), 1u << p);
    mask |= bit(Priority{p});
  }
  EXPECT_EQ(mask, 0xFFu);
}

TEST(Ids, NoFecIsNotTheFirstFec) { EXPECT_NE(kNoFec, Fec{}); }

}  // namespace
}  // namespace railyard
