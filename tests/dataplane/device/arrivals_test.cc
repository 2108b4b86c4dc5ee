#include "dataplane/device/arrivals.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using Entry = std::pair<std::uint64_t, std::uintptr_t>;  // key, and which packet

// Packets are only passed on here.
Packet* packet(std::uintptr_t n) { return reinterpret_cast<Packet*>(n * 64); }

std::vector<Entry> contents(ArrivalBatch& batch) {
  std::vector<Entry> entries;
  for (const Arrival& a : batch) entries.push_back({a.key, reinterpret_cast<std::uintptr_t>(a.packet) / 64});
  return entries;
}

bool by_key(const Entry& a, const Entry& b) { return a.first < b.first; }

TEST(ArrivalBatch, AnEmptyBatchHasASentinel) {
  ArrivalBatch batch;
  batch.clear();
  batch.sort(0, 0);
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(batch[0].key, EventKey::kNone);
}

// Sizes around the place where the method changes (12) and around the powers of two of its buckets; times spread, in
// clusters, all at once, in order, in the opposite order, at both ends of the slice.
TEST(ArrivalBatch, SortsAsAStableSortDoes) {
  constexpr std::uint64_t kFirst = std::uint64_t{1'000'000} << EventKey::kTimeShift;
  RngStream rng(Seed{1}, "arrivals_test");
  struct Shape {
    const char* name;
    std::uint64_t span;                                          // last - first
    std::function<std::uint64_t(std::size_t, std::size_t)> key;  // distance from first
  };
  const std::uint64_t wide = std::uint64_t{1'500'000} << EventKey::kTimeShift;
  const Shape shapes[] = {
      {"spread", wide, [&](std::size_t, std::size_t) { return rng.below(wide); }},
      {"few different", wide, [&](std::size_t, std::size_t) { return rng.below(5) * (wide / 5); }},
      {"clusters", wide, [&](std::size_t, std::size_t) { return rng.below(3) * (wide / 3) + rng.below(64); }},
      {"all at once", wide, [&](std::size_t, std::size_t) { return wide / 2; }},
      {"in order", wide, [&](std::size_t i, std::size_t n) { return wide / n * i; }},
      {"in the opposite order", wide, [&](std::size_t i, std::size_t n) { return wide / n * (n - i); }},
      {"at both ends", wide, [&](std::size_t, std::size_t) { return rng.below(2) * wide; }},
      {"one picosecond", std::uint64_t{1} << EventKey::kTimeShift,
       [&](std::size_t, std::size_t) { return rng.below(40); }},
      {"a narrow slice", 17, [&](std::size_t, std::size_t) { return rng.below(18); }},
      {"no width at all", 0, [&](std::size_t, std::size_t) { return 0; }},
      {"half of all time", ~std::uint64_t{0} >> 1, [&](std::size_t, std::size_t) { return rng.next() >> 1; }},
  };
  ArrivalBatch batch;
  for (const Shape& shape : shapes) {
    for (const std::size_t n :
         {0u, 1u, 2u, 3u, 11u, 12u, 13u, 14u, 31u, 32u, 33u, 64u, 65u, 255u, 256u, 257u, 1000u, 3000u}) {
      const std::uint64_t first = shape.span > wide ? 0 : kFirst;
      batch.clear();
      std::vector<Entry> expected;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = first + shape.key(i, n);
        batch.add(key, packet(i + 1));
        expected.push_back({key, i + 1});
      }
      std::stable_sort(expected.begin(), expected.end(), by_key);
      batch.sort(first, first + shape.span);
      ASSERT_EQ(contents(batch), expected) << n << " arrivals, " << shape.name;
      ASSERT_EQ(batch[n].key, EventKey::kNone) << n << " arrivals, " << shape.name;
    }
  }
}

// Arrivals at 10, 20, 20, 30, 40, as packets 1..5.
class SortedBatch : public ::testing::Test {
 protected:
  SortedBatch() {
    for (const std::uint64_t key : {10u, 20u, 20u, 30u, 40u}) batch.add(key, packet(batch.size() + 1));
    batch.sort(0, 100);
  }
  std::vector<std::uintptr_t> order() {
    std::vector<std::uintptr_t> packets;
    for (const Entry& e : contents(batch)) packets.push_back(e.second);
    EXPECT_EQ(batch[batch.size()].key, EventKey::kNone);
    return packets;
  }
  ArrivalBatch batch;
};
using Order = std::vector<std::uintptr_t>;

TEST_F(SortedBatch, DeferMovesAnArrivalBehindThoseThatAreDueBefore) {
  batch[0].verdict = 77;
  batch.defer(batch.begin(), 35);
  EXPECT_EQ(order(), (Order{2, 3, 4, 1, 5}));
  EXPECT_EQ(batch[3].key, 35u);
  EXPECT_EQ(batch[3].verdict, 77) << "what has been decided goes along";
}

TEST_F(SortedBatch, DeferPutsItBehindEqualKeysAndToTheEnd) {
  batch.defer(batch.begin(), 20);
  EXPECT_EQ(order(), (Order{2, 3, 1, 4, 5}));
  batch.defer(batch.begin() + 2, 1000);
  EXPECT_EQ(order(), (Order{2, 3, 4, 5, 1}));
  batch.defer(batch.begin(), 21);
  EXPECT_EQ(order(), (Order{3, 2, 4, 5, 1}));
}

TEST_F(SortedBatch, RemoveClosesTheGap) {
  batch.remove(batch.begin() + 1);
  EXPECT_EQ(order(), (Order{1, 3, 4, 5}));
  batch.remove(batch.begin() + 3);
  EXPECT_EQ(order(), (Order{1, 3, 4}));
  batch.remove(batch.begin());
  EXPECT_EQ(order(), (Order{3, 4}));
}

TEST_F(SortedBatch, InsertPutsAnArrivalWhereItsKeyBelongs) {
  Arrival a{};
  a.verdict = 5;
  const auto insert = [&](std::uintptr_t n, std::uint64_t key) {
    a.packet = packet(n);
    batch.insert(a, key);
  };
  insert(6, 25);
  EXPECT_EQ(order(), (Order{1, 2, 3, 6, 4, 5}));
  EXPECT_EQ(batch[3].key, 25u);
  EXPECT_EQ(batch[3].verdict, 5);
  insert(7, 20);
  EXPECT_EQ(order(), (Order{1, 2, 3, 7, 6, 4, 5})) << "behind equal keys";
  insert(8, 5);
  insert(9, 50);
  EXPECT_EQ(order(), (Order{8, 1, 2, 3, 7, 6, 4, 5, 9}));
}

TEST_F(SortedBatch, InsertGrowsTheBatch) {
  Arrival a{};
  for (std::uint64_t i = 0; i < 500; ++i) {
    a.packet = packet(100 + i);
    batch.insert(a, 1000 - i);
  }
  ASSERT_EQ(batch.size(), 505u);
  EXPECT_EQ(contents(batch).back().second, 100u);
  EXPECT_TRUE(std::ranges::is_sorted(contents(batch), by_key));
  EXPECT_EQ(batch[505].key, EventKey::kNone);
}

}  // namespace
}  // namespace railyard
