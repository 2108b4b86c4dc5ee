#include "dataplane/base/spsc_ring.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "dataplane/base/hash.h"
#include "dataplane/base/rng.h"

// Aligned allocations of this program, which is how a ring gets its segments.
namespace allocation {
std::atomic<int> made = 0;
std::atomic<int> live = 0;
// clang's ThreadSanitizer has operators of its own, which cannot be replaced.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RAILYARD_ALLOCATIONS_ARE_SEEN 0
#endif
#endif
#ifndef RAILYARD_ALLOCATIONS_ARE_SEEN
#define RAILYARD_ALLOCATIONS_ARE_SEEN 1
#endif
}  // namespace allocation

#if RAILYARD_ALLOCATIONS_ARE_SEEN
void* operator new(std::size_t octets, std::align_val_t alignment) {
  ++allocation::made;
  ++allocation::live;
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (octets + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p, std::align_val_t) noexcept {
  if (p != nullptr) --allocation::live;
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t alignment) noexcept { ::operator delete(p, alignment); }
#endif

namespace railyard {
namespace {

// Takes the oldest item, which must be there.
template <class T>
T take(SpscRing<T>& ring) {
  const T* item = ring.front();
  EXPECT_NE(item, nullptr);
  const T copy = item == nullptr ? T{} : *item;
  if (item != nullptr) ring.pop();
  return copy;
}

TEST(SpscRing, HasNoFrontWhenEmpty) {
  SpscRing<int> ring;
  EXPECT_EQ(ring.front(), nullptr);
  EXPECT_EQ(ring.size(), 0u);
  ring.push(7);
  EXPECT_EQ(ring.size(), 1u);
  EXPECT_EQ(take(ring), 7);
  EXPECT_EQ(ring.front(), nullptr);
  EXPECT_EQ(ring.size(), 0u);
}

TEST(SpscRing, FrontStaysTheSameItemUntilItIsPopped) {
  SpscRing<int> ring(1);
  ring.push(1);
  const int* oldest = ring.front();
  for (int i = 2; i < 100; ++i) ring.push(i);  // grows several times meanwhile
  EXPECT_EQ(ring.front(), oldest);
  EXPECT_EQ(take(ring), 1);
}

TEST(SpscRing, KeepsOrderAcrossGrowth) {
  SpscRing<int> ring(2);
  for (int i = 0; i < 10'000; ++i) ring.push(i);
  EXPECT_EQ(ring.size(), 10'000u);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(take(ring), i);
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(SpscRing, KeepsOrderWhenItGrowsInTheMiddleOfALap) {
  SpscRing<int> ring(4);
  for (int i = 0; i < 3; ++i) ring.push(i);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(take(ring), i);
  for (int i = 3; i < 50; ++i) ring.push(i);
  for (int i = 2; i < 50; ++i) ASSERT_EQ(take(ring), i);
}

TEST(SpscRing, ACapacityIsRoundedUpToAPowerOfTwo) {
  for (const std::size_t capacity : {0u, 1u, 3u, 5u, 100u}) {
    SpscRing<std::size_t> ring(capacity);
    for (std::size_t i = 0; i < 300; ++i) ring.push(i);
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(take(ring), i) << "capacity " << capacity;
  }
}

TEST(SpscRing, BehavesLikeADequeOverRandomOperations) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    RngStream rng(Seed{seed}, "spsc_ring_test");
    SpscRing<std::uint64_t> ring(1);
    std::deque<std::uint64_t> model;
    for (int step = 0; step < 50'000; ++step) {
      const std::uint64_t pushes_of_16 = (step / 2000) % 2 == 0 ? 10 : 5;  // phases of filling and of draining
      if (rng.below(16) < pushes_of_16) {
        const std::uint64_t item = rng.next();
        ring.push(item);
        model.push_back(item);
      } else if (!model.empty()) {
        ASSERT_EQ(take(ring), model.front());
        model.pop_front();
      } else {
        ASSERT_EQ(ring.front(), nullptr);
      }
      ASSERT_EQ(ring.size(), model.size());
    }
  }
}

// An item that counts the slot arrays made, and those that exist.
struct Numbered {
  int value = 0;
};

TEST(SpscRing, AStreamThatFitsNeverGrowsIt) {
  if (!RAILYARD_ALLOCATIONS_ARE_SEEN) GTEST_SKIP() << "ThreadSanitizer hides what is allocated";
  allocation::made = 0;
  SpscRing<Numbered> ring(8);
  for (int i = 0; i < 1000; ++i) {
    ring.push({i});
    ring.push({i});
    EXPECT_EQ(take(ring).value, i);
    EXPECT_EQ(take(ring).value, i);
  }
  EXPECT_EQ(allocation::made, 1);
}

TEST(SpscRing, ADrainedSegmentIsFreedAndTheRestWithTheRing) {
  if (!RAILYARD_ALLOCATIONS_ARE_SEEN) GTEST_SKIP() << "ThreadSanitizer hides what is allocated";
  const int before = allocation::live;
  {
    SpscRing<Numbered> ring(8);
    for (int i = 0; i < 8 + 16 + 32; ++i) ring.push({i});
    EXPECT_EQ(allocation::live - before, 3);
    for (int i = 0; i < 8; ++i) take(ring);
    ASSERT_NE(ring.front(), nullptr);
    EXPECT_EQ(allocation::live - before, 2);
    for (int i = 0; i < 16; ++i) take(ring);
    ASSERT_NE(ring.front(), nullptr);
    EXPECT_EQ(allocation::live - before, 1);
    for (int i = 0; i < 100; ++i) ring.push({i});
    EXPECT_EQ(allocation::live - before, 3);
  }
  EXPECT_EQ(allocation::live - before, 0);
}

// Three words that belong together: a torn or recycled item shows.
struct Item {
  std::uint64_t number = 0;
  std::uint64_t mixed = 0;
  std::uint64_t complement = 0;
};

TEST(SpscRing, CarriesTwoMillionItemsFromOneThreadToAnother) {
  constexpr std::uint64_t kItems = 2'000'000;
  SpscRing<Item> ring(1);
  std::atomic<bool> done = false;

  std::jthread producer([&] {
    RngStream rng(Seed{1}, "producer");
    for (std::uint64_t i = 0; i < kItems;) {
      for (std::uint64_t burst = 1 + rng.below(64); burst > 0 && i < kItems; --burst, ++i) ring.push({i, mix64(i), ~i});
      if (rng.below(8) == 0) std::this_thread::yield();  // else the consumer falls behind and the ring grows
    }
    done.store(true, std::memory_order_release);
  });

  std::uint64_t received = 0;
  std::uint64_t wrong = 0;
  for (bool last = false; !last;) {
    last = done.load(std::memory_order_acquire);  // what was pushed before is seen by the loop below
    while (const Item* item = ring.front()) {
      wrong += item->number != received || item->mixed != mix64(received) || item->complement != ~received ? 1u : 0u;
      ++received;
      ring.pop();
    }
    std::this_thread::yield();
  }
  EXPECT_EQ(received, kItems);
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(ring.size(), 0u);
}

}  // namespace
}  // namespace railyard
