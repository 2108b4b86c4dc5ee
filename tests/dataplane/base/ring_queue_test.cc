#include "dataplane/base/ring_queue.h"

#include <cstdint>
#include <deque>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

TEST(RingQueue, StartsEmpty) {
  const RingQueue<int> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0u);
}

TEST(RingQueue, KeepsOrderWhenItGrowsInTheMiddleOfALap) {
  RingQueue<int> queue;
  for (int i = 0; i < 4; ++i) queue.push(i);
  for (int i = 0; i < 3; ++i) queue.pop();
  for (int i = 4; i < 20; ++i) queue.push(i);  // the oldest item stands in the last slot when the ring doubles
  ASSERT_EQ(queue.size(), 17u);
  for (int i = 3; i < 20; ++i) {
    EXPECT_EQ(queue.front(), i);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
}

TEST(RingQueue, ItemsCanBeLookedAtFromTheOldestOn) {
  RingQueue<int> queue;
  for (int i = 0; i < 10; ++i) queue.push(i * i);
  queue.pop();
  for (std::size_t i = 0; i < queue.size(); ++i) EXPECT_EQ(queue[i], static_cast<int>((i + 1) * (i + 1)));
}

TEST(RingQueue, TheOldestItemCanBeChangedInPlace) {
  RingQueue<int> queue;
  queue.push(1);
  queue.push(2);
  queue.front() = 7;
  EXPECT_EQ(queue.front(), 7);
  EXPECT_EQ(queue[1], 2);
}

TEST(RingQueue, BehavesLikeADequeOverRandomOperations) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    RngStream rng(Seed{seed}, "ring_queue_test");
    RingQueue<std::uint64_t> queue;
    std::deque<std::uint64_t> model;
    for (int step = 0; step < 20'000; ++step) {
      // Long phases of filling and of draining, so that the ring both grows and runs empty.
      const std::uint64_t pushes_of_16 = (step / 1000) % 2 == 0 ? 10 : 5;
      if (rng.below(16) < pushes_of_16) {
        const std::uint64_t item = rng.next();
        queue.push(item);
        model.push_back(item);
      } else if (!model.empty()) {
        queue.pop();
        model.pop_front();
      }
      ASSERT_EQ(queue.size(), model.size());
      ASSERT_EQ(queue.empty(), model.empty());
      if (model.empty()) continue;
      ASSERT_EQ(queue.front(), model.front());
      const std::size_t any = rng.below(model.size());
      ASSERT_EQ(queue[any], model[any]);
    }
  }
}

}  // namespace
}  // namespace railyard
