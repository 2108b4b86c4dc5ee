#include "transports/base/wake_queue.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

TEST(WakeQueue, TheEarliestComesFirstAndEqualOnesInTheOrderOfTheirSlots) {
  WakeQueue wakes;
  wakes.push({Instant{5}, 7, true});
  wakes.push({Instant{5}, 7, false});
  wakes.push({Instant{5}, 3, true});
  wakes.push({Instant{4}, 9, true});
  for (const Wake& w :
       {Wake{Instant{4}, 9, true}, Wake{Instant{5}, 3, true}, Wake{Instant{5}, 7, false}, Wake{Instant{5}, 7, true}}) {
    EXPECT_EQ(wakes.top(), w);
    wakes.pop();
  }
  EXPECT_TRUE(wakes.empty());
}

TEST(WakeQueue, IsAsSortedAsASortedList) {
  RngStream rng(Seed{1}, "wakes");
  WakeQueue wakes;
  std::vector<Wake> list;
  const auto later = [](const Wake& a, const Wake& b) {
    return std::tie(a.at, a.slot, a.paced) > std::tie(b.at, b.slot, b.paced);
  };
  for (int i = 0; i < 20'000; ++i) {
    if (rng.below(5) < 3) {
      const Wake w{Instant{static_cast<std::int64_t>(rng.below(1000))}, static_cast<std::uint32_t>(rng.below(50)),
                   rng.below(2) == 0};
      wakes.push(w);
      list.insert(std::ranges::upper_bound(list, w, later), w);
    } else if (!list.empty()) {
      ASSERT_EQ(wakes.top(), list.back());
      wakes.pop();
      list.pop_back();
    }
    ASSERT_EQ(wakes.size(), list.size());
  }
}

class WakeQueueOrder : public testing::TestWithParam<std::uint64_t> {};

// As an engine uses it: what has come is pushed again, later; `spread` says by how much at most. Of a thousandth it is a
// thousand times that, as of timers.
TEST_P(WakeQueueOrder, OfThousandsIsThatOfTheirInstants) {
  const std::uint64_t spread = GetParam();
  RngStream rng(Seed{spread}, "wakes");
  WakeQueue wakes;
  std::multiset<std::tuple<Instant, std::uint32_t, bool>> expected;
  Instant now{};
  const auto push = [&](std::uint32_t slot) {
    const auto after = static_cast<std::int64_t>(rng.below(spread) * (rng.below(1000) == 0 ? 1000 : 1));
    const Wake w{now + Duration{after}, slot, rng.below(2) == 0};
    wakes.push(w);
    expected.emplace(w.at, w.slot, w.paced);
  };
  const auto pop = [&] {
    const auto first = *expected.begin();
    const auto [at, slot, paced] = first;
    ASSERT_EQ(wakes.top(), (Wake{at, slot, paced}));
    expected.erase(expected.begin());
    wakes.pop();
    now = at;
  };
  for (std::uint32_t slot = 0; slot < 10'000; ++slot) push(slot);
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    pop();
    if (HasFatalFailure()) return;
    push(i % 10'000);
    ASSERT_EQ(wakes.size(), expected.size());
  }
  while (!expected.empty() && !HasFatalFailure()) pop();
  EXPECT_TRUE(wakes.empty());
}
// All at one instant, a few instants, those of packets, those of timers.
INSTANTIATE_TEST_SUITE_P(Spreads, WakeQueueOrder,
                         testing::Values(1, 3, 1'000'000, 1'000'000'000, 100'000'000'000'000));

// Far apart in time, and now and then one of those that are put in between.
TEST(WakeQueue, CrowdsWithNothingBetweenThemAreInOrder) {
  RngStream rng(Seed{7}, "wakes");
  WakeQueue wakes;
  std::multiset<std::pair<Instant, std::uint32_t>> expected;
  Instant now{};
  const auto push = [&](std::uint32_t slot, std::uint64_t after) {
    const Instant at = now + Duration{static_cast<std::int64_t>(after)};
    wakes.push({at, slot, true});
    expected.emplace(at, slot);
  };
  const auto crowd = [&] { return (rng.below(40) << 30) + rng.below(3000); };
  for (std::uint32_t slot = 0; slot < 3000; ++slot) push(slot, crowd());
  for (std::uint32_t i = 0; i < 60'000; ++i) {
    const auto first = *expected.begin();
    ASSERT_EQ(wakes.top(), (Wake{first.first, first.second, true})) << i;
    expected.erase(expected.begin());
    wakes.pop();
    now = first.first;
    push(i % 3000, rng.below(10) == 0 ? rng.below(std::uint64_t{1} << 31) : crowd());
  }
}

TEST(WakeQueue, TheSameManyTimesIsInItsPlace) {
  WakeQueue wakes;
  for (std::uint32_t slot = 0; slot < 5000; ++slot) wakes.push({Instant{slot * 1000}, slot, true});
  for (std::uint32_t slot = 0; slot < 1000; ++slot) wakes.pop();
  for (int i = 0; i < 300; ++i) wakes.push({Instant{1'000'000}, 7, true});
  for (int i = 0; i < 300; ++i, wakes.pop()) ASSERT_EQ(wakes.top(), (Wake{Instant{1'000'000}, 7, true}));
  for (std::uint32_t slot = 1000; slot < 5000; ++slot, wakes.pop())
    ASSERT_EQ(wakes.top(), (Wake{Instant{slot * 1000}, slot, true}));
  EXPECT_TRUE(wakes.empty());
}

TEST(WakeQueue, EarlierAndEarlierOnesComeInOrder) {
  WakeQueue wakes;
  for (std::int64_t at = 5'000; at > 0; --at) wakes.push({Instant{at * 1'000'000}, 0, true});
  // Between those that are in order by now.
  for (std::int64_t at = 5'000; at > 0; --at) wakes.push({Instant{at * 1'000'000 - 500'000}, 0, true});
  for (std::int64_t at = 1; at <= 10'000; ++at, wakes.pop()) ASSERT_EQ(wakes.top().at, Instant{at * 500'000});
  EXPECT_TRUE(wakes.empty());
}

TEST(WakeQueue, TheNextOnesAreAtHand) {
  WakeQueue wakes;
  EXPECT_EQ(wakes.next(0), std::nullopt);
  for (std::uint32_t i = 0; i < 10'000; ++i) wakes.push({Instant{i * 7919 % 10'000}, i, true});
  for (std::int64_t first = 0; first < 10'000 - std::int64_t{WakeQueue::kAtHand}; ++first, wakes.pop())
    for (std::size_t i = 0; i < WakeQueue::kAtHand; ++i)
      ASSERT_EQ(wakes.next(i).value().at, Instant{first + static_cast<std::int64_t>(i)});
}

}  // namespace
}  // namespace railyard
