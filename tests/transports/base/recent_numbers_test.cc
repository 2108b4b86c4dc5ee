#include "transports/base/recent_numbers.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace railyard {
namespace {

constexpr std::uint64_t kAll = RecentNumbers::kRemembered;

TEST(RecentNumbers, EachNumberIsNewOnce) {
  RecentNumbers numbers;
  for (std::uint64_t n = 0; n < 3 * kAll; ++n) {
    EXPECT_TRUE(numbers.add(n));
    EXPECT_FALSE(numbers.add(n));
  }
}

TEST(RecentNumbers, OneThatWasSkippedIsNewWhileItIsRemembered) {
  RecentNumbers numbers;
  EXPECT_TRUE(numbers.add(10));
  EXPECT_TRUE(numbers.add(10 + kAll - 1));
  EXPECT_FALSE(numbers.add(10)) << "the oldest that is remembered";
  EXPECT_TRUE(numbers.add(11));
  EXPECT_FALSE(numbers.add(9)) << "too old to know: counts as known";
  EXPECT_TRUE(numbers.add(10 + 5 * kAll)) << "a jump forgets all";
  EXPECT_TRUE(numbers.add(11 + 4 * kAll));
  EXPECT_FALSE(numbers.add(11 + 4 * kAll));
}

TEST(RecentNumbers, AgreesWithASetOfAllNumbers) {
  std::mt19937_64 draw(7);
  RecentNumbers numbers;
  std::set<std::uint64_t> known;
  std::uint64_t newest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t n = newest + 8 - std::min<std::uint64_t>(newest + 8, draw() % (kAll / 2));
    ASSERT_EQ(numbers.add(n), known.insert(n).second) << i;
    newest = std::max(newest, n);
  }
}

}  // namespace
}  // namespace railyard
