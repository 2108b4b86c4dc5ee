#include "transports/base/wake_queue.h"

#include <algorithm>
#include <tuple>

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

}  // namespace
}  // namespace railyard
