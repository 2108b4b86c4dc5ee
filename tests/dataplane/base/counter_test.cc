#include "dataplane/base/counter.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(Counter, Counts) {
  Counter frames;
  EXPECT_EQ(frames.read(), 0u);
  frames.increment();
  frames.add(41);
  EXPECT_EQ(frames.read(), 42u);
  frames.set(7);
  EXPECT_EQ(frames.read(), 7u);
}

TEST(Counter, KeepsTheHighestMark) {
  Counter most_queued;
  for (const std::uint64_t queued : {3u, 9u, 4u, 9u, 8u}) most_queued.raise_to(queued);
  EXPECT_EQ(most_queued.read(), 9u);
}

TEST(Counter, ACopyIsASnapshot) {
  Counter live;
  live.add(5);
  const Counter copied = live;
  Counter assigned;
  assigned = live;
  live.add(1);
  EXPECT_EQ(copied.read(), 5u);
  EXPECT_EQ(assigned.read(), 5u);
  EXPECT_EQ(live.read(), 6u);
}

TEST(Counter, AReaderInAnotherThreadSeesItGrowAndMissesNothing) {
  constexpr std::uint64_t kFrames = 1'000'000;
  Counter frames;
  std::atomic<bool> done = false;
  std::jthread device([&] {
    for (std::uint64_t i = 0; i < kFrames; ++i) frames.increment();
    done.store(true, std::memory_order_release);
  });
  bool grows = true;
  for (std::uint64_t before = 0; !done.load(std::memory_order_acquire);) {
    const std::uint64_t now = frames.read();
    grows = grows && now >= before && now <= kFrames;
    before = now;
  }
  EXPECT_TRUE(grows);
  device.join();
  EXPECT_EQ(frames.read(), kFrames);
}

}  // namespace
}  // namespace railyard
