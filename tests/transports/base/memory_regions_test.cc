#include "transports/base/memory_regions.h"

#include <array>
#include <set>
#include <span>

#include <gtest/gtest.h>

namespace railyard {
namespace {

constexpr ProtectionDomain kOwn{1}, kOther{2};
constexpr std::uint64_t kAddress = 0x7F0000001000;

MemoryRegion region_of(std::span<std::byte> memory, AccessSet access) {
  return {.address = kAddress, .octets = memory.size(), .access = access, .domain = kOwn, .memory = memory.data()};
}

TEST(MemoryRegions, AnAccessGoesWhereTheRegionIs) {
  std::array<std::byte, 100> memory{};
  MemoryRegions regions;
  const auto key = regions.add(region_of(memory, Access::kLocalWrite | Access::kRemoteWrite)).value();
  const auto place = regions.check(key, kOwn, kAddress + 40, 60, Access::kRemoteWrite).value();
  EXPECT_EQ(place.memory, memory.data() + 40);
  EXPECT_EQ(place.offset, 40u);
  EXPECT_TRUE(regions.check(key, kOwn, kAddress, 100, {})) << "local reads always may";
}

TEST(MemoryRegions, BoundsHoldToTheOctet) {
  std::array<std::byte, 100> memory{};
  MemoryRegions regions;
  const auto key = regions.add(region_of(memory, Access::kRemoteRead)).value();
  const auto error = [&](std::uint64_t address, std::uint64_t octets) {
    const auto place = regions.check(key, kOwn, address, octets, Access::kRemoteRead);
    return place ? "" : name(place.error());
  };
  EXPECT_EQ(error(kAddress, 100), "");
  EXPECT_EQ(error(kAddress + 99, 1), "");
  EXPECT_EQ(error(kAddress, 101), "out_of_range");
  EXPECT_EQ(error(kAddress - 1, 1), "out_of_range");
  EXPECT_EQ(error(kAddress + 100, 1), "out_of_range");
  EXPECT_EQ(error(kAddress + 50, 51), "out_of_range");
  EXPECT_EQ(error(kAddress + 50, ~std::uint64_t{0}), "out_of_range") << "the sum wraps";
  EXPECT_EQ(error(~std::uint64_t{0}, 2), "out_of_range");
}

TEST(MemoryRegions, EachPermissionIsNeeded) {
  std::array<std::byte, 8> memory{};
  const Access all[] = {Access::kLocalWrite, Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic};
  for (const Access given : all) {
    MemoryRegions regions;
    const auto key = regions.add(region_of(memory, given | Access::kLocalWrite)).value();
    for (const Access wanted : all) {
      const auto place = regions.check(key, kOwn, kAddress, 8, wanted);
      const bool may = wanted == given || wanted == Access::kLocalWrite;
      ASSERT_EQ(place.has_value(), may);
      if (!may) {
        EXPECT_EQ(place.error(), AccessError::kNotPermitted);
      }
    }
    EXPECT_FALSE(regions.check(key, kOwn, kAddress, 8, Access::kRemoteRead | Access::kRemoteWrite)) << "both";
  }
}

TEST(MemoryRegions, OtherDomainsAndUnknownKeysAreRefused) {
  std::array<std::byte, 8> memory{};
  MemoryRegions regions;
  const auto key = regions.add(region_of(memory, Access::kRemoteRead)).value();
  EXPECT_EQ(regions.check(key, kOther, kAddress, 8, Access::kRemoteRead).error(), AccessError::kOtherDomain);
  for (const MemoryRegions::Key wrong : {0u, 1u, key + 1, key ^ 0x80u, key + 256, ~0u})
    EXPECT_EQ(regions.check(wrong, kOwn, kAddress, 8, Access::kRemoteRead).error(), AccessError::kUnknownKey) << wrong;
}

TEST(MemoryRegions, WithoutOctetsNothingIsLookedAt) {
  MemoryRegions regions;
  EXPECT_TRUE(regions.check(0xDEAD, kOwn, 0, 0, Access::kRemoteWrite));
}

TEST(MemoryRegions, TheKeyOfARegionThatIsGoneIsRefusedForLong) {
  std::array<std::byte, 8> memory{};
  MemoryRegions regions;
  const auto gone = regions.add(region_of(memory, Access::kRemoteRead)).value();
  EXPECT_TRUE(regions.remove(gone));
  EXPECT_FALSE(regions.remove(gone)) << "twice";
  std::set<MemoryRegions::Key> keys{gone};
  for (int i = 0; i < 10'000; ++i) {
    const auto key = regions.add(region_of(memory, Access::kRemoteRead)).value();
    ASSERT_TRUE(keys.insert(key).second) << "came again after " << i;
    ASSERT_EQ(regions.check(gone, kOwn, kAddress, 8, Access::kRemoteRead).error(), AccessError::kUnknownKey);
    ASSERT_TRUE(regions.remove(key));
  }
  EXPECT_EQ(regions.size(), 0u);
}

TEST(MemoryRegions, ManyAtOnce) {
  std::array<std::byte, 8> memory{};
  MemoryRegions regions;
  std::set<MemoryRegions::Key> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(regions.add(region_of(memory, Access::kRemoteRead)).value());
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_FALSE(keys.contains(0));
  for (const auto key : keys) EXPECT_TRUE(regions.check(key, kOwn, kAddress, 8, Access::kRemoteRead));
}

TEST(MemoryRegions, WhatCannotBeRegistered) {
  MemoryRegions regions;
  EXPECT_EQ(regions.add({.octets = 0}).error(), RegisterError::kEmpty);
  EXPECT_EQ(regions.add({.address = ~std::uint64_t{0}, .octets = 2}).error(), RegisterError::kWraps);
  EXPECT_TRUE(regions.add({.address = ~std::uint64_t{0}, .octets = 1}));
  EXPECT_EQ(regions.add({.octets = 8, .access = Access::kRemoteWrite}).error(), RegisterError::kNeedsLocalWrite);
  EXPECT_EQ(regions.add({.octets = 8, .access = Access::kRemoteAtomic}).error(), RegisterError::kNeedsLocalWrite);
  EXPECT_EQ(regions.size(), 1u);
}

// A promise of contents has no memory; where in the region an access goes is known all the same.
TEST(MemoryRegions, WithoutMemoryThereIsAnOffset) {
  MemoryRegions regions;
  const auto key = regions.add({.address = 0x1000, .octets = 1u << 30, .access = Access::kRemoteRead}).value();
  const auto place = regions.check(key, {}, 0x1000 + 4096, 4096, Access::kRemoteRead).value();
  EXPECT_EQ(place.memory, nullptr);
  EXPECT_EQ(place.offset, 4096u);
}

TEST(MemoryRegions, AWindowIsAPieceOfARegionAndGoesBeforeIt) {
  std::array<std::byte, 100> memory{};
  MemoryRegions regions;
  const auto region = regions.add(region_of(memory, Access::kLocalWrite | Access::kBindWindow)).value();
  const auto window = regions.add_window(kOwn).value();
  EXPECT_FALSE(regions.check(window, kOwn, kAddress, 1, Access::kRemoteWrite)) << "bound to nothing";
  WindowBinding piece{
      .region = region, .address = kAddress + 10, .octets = 20, .access = Access::kRemoteWrite, .zero_based = true};
  ASSERT_TRUE(regions.bind(window + 1, piece));
  EXPECT_FALSE(regions.check(window, kOwn, 0, 1, Access::kRemoteWrite)) << "the key before";
  EXPECT_EQ(regions.check(window + 1, kOwn, 5, 15, Access::kRemoteWrite).value().memory, memory.data() + 15);
  EXPECT_EQ(regions.check(window + 1, kOwn, 5, 16, Access::kRemoteWrite).error(), AccessError::kOutOfRange);
  EXPECT_EQ(regions.check(window + 1, kOwn, 5, 1, {}).error(), AccessError::kNotPermitted) << "no L_Key";
  EXPECT_TRUE(regions.has_windows(region));
  EXPECT_FALSE(regions.invalidate(region)) << "a window is bound to it";
  EXPECT_FALSE(regions.invalidate(window + 1)) << "of type 1";
  EXPECT_TRUE(regions.check(window + 1, kOwn, 5, 15, Access::kRemoteWrite)) << "nothing has changed";
  piece.user = 7;
  ASSERT_TRUE(regions.bind(window + 1, piece));
  EXPECT_TRUE(regions.invalidate(window + 1)) << "of type 2";
  EXPECT_FALSE(regions.has_windows(region));
  EXPECT_TRUE(regions.invalidate(region));
  EXPECT_FALSE(regions.invalidate(region));
  EXPECT_TRUE(regions.remove_window(window));
  EXPECT_EQ(regions.size(), 0u);
}

TEST(MemoryRegions, WhatAWindowMayNotBeBoundTo) {
  std::array<std::byte, 100> memory{};
  MemoryRegions regions;
  const auto plain = regions.add(region_of(memory, Access::kLocalWrite)).value();
  const auto read_only = regions.add(region_of(memory, Access::kBindWindow)).value();
  const auto window = regions.add_window(kOwn).value();
  const auto foreign = regions.add_window(kOther).value();
  WindowBinding b{.region = plain, .address = kAddress, .octets = 100, .access = Access::kRemoteRead};
  EXPECT_EQ(regions.bind(window, b).error(), AccessError::kNotPermitted);
  b.region = read_only;
  EXPECT_EQ(regions.bind(foreign, b).error(), AccessError::kOtherDomain);
  EXPECT_TRUE(regions.bind(window, b));
  b.access = Access::kRemoteWrite;
  EXPECT_EQ(regions.bind(window, b).error(), AccessError::kNotPermitted) << "the region has no local writes";
  b.region = window;
  EXPECT_EQ(regions.bind(window, b).error(), AccessError::kUnknownKey) << "a window in a window";
}

}  // namespace
}  // namespace railyard
