#include "dataplane/base/slot_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

constexpr unsigned kSlotBits = 8;
using Slots = std::initializer_list<std::size_t>;

std::uint64_t key(std::uint64_t time, std::size_t slot) { return time << kSlotBits | slot; }

TEST(SlotQueue, AnEmptyQueueHasNoKey) {
  const SlotQueue q(4, kSlotBits);
  EXPECT_EQ(q.min(), SlotQueue::kNone);
  EXPECT_EQ(q.ahead(1), SlotQueue::kNone);
}

TEST(SlotQueue, KeysComeOutInOrderHoweverTheyWentIn) {
  SlotQueue q(5, kSlotBits);
  for (const std::size_t slot : Slots{3, 0, 4, 1, 2}) q.set(slot, key(100 - 10 * slot, slot));
  for (const std::size_t slot : Slots{4, 3, 2, 1, 0}) {
    EXPECT_EQ(q.min(), key(100 - 10 * slot, slot));
    q.pop();
  }
  EXPECT_EQ(q.min(), SlotQueue::kNone);
}

TEST(SlotQueue, EqualTimesComeOutInSlotOrder) {
  SlotQueue q(3, kSlotBits);
  for (const std::size_t slot : Slots{2, 0, 1}) q.set(slot, key(7, slot));
  EXPECT_EQ(q.min(), key(7, 0));
  EXPECT_EQ(q.ahead(1), key(7, 1));
}

TEST(SlotQueue, ANewKeyReplacesTheOldOneInEitherDirection) {
  SlotQueue q(3, kSlotBits);
  q.set(0, key(10, 0));
  q.set(1, key(20, 1));
  q.set(1, key(5, 1));
  EXPECT_EQ(q.min(), key(5, 1));
  q.set(1, key(30, 1));
  EXPECT_EQ(q.min(), key(10, 0));
  EXPECT_EQ(q.ahead(1), key(30, 1));
  q.set(0, SlotQueue::kNone);
  EXPECT_EQ(q.min(), key(30, 1));
  EXPECT_EQ(q.ahead(1), SlotQueue::kNone);
}

TEST(SlotQueue, BehavesAsASortedListUnderRandomOperations) {
  for (const std::size_t slots : Slots{1, 2, 3, 7, 24, 33, 200}) {
    SlotQueue q(slots, kSlotBits);
    std::vector<std::uint64_t> model(slots, SlotQueue::kNone);
    RngStream rng(Seed{slots}, "slot_queue_test");
    for (int i = 0; i < 20'000; ++i) {
      const auto least = std::min_element(model.begin(), model.end());
      ASSERT_EQ(q.min(), *least) << "slots " << slots << " step " << i;
      std::vector<std::uint64_t> sorted = model;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(q.ahead(1), slots > 1 ? sorted[1] : SlotQueue::kNone);
      if (rng.below(3) == 0 && *least != SlotQueue::kNone) {
        q.pop();
        *least = SlotQueue::kNone;
      } else {
        const std::size_t slot = rng.below(slots);
        const std::uint64_t k = rng.below(8) == 0 ? SlotQueue::kNone : key(1 + rng.below(1000), slot);
        q.set(slot, k);
        model[slot] = k;
      }
    }
  }
}

}  // namespace
}  // namespace railyard
