#include "dataplane/nic/shared_bus.h"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

constexpr PortIndex kA{0}, kB{2}, kC{5};

// 1000 octets take 80 ns.
SharedBus bus() { return {100_Gbps, {kA, kB, kC}}; }

const auto all = [](PortIndex) { return true; };

// Each frame as soon as the bus is free; returns the octets of each NIC.
template <class Wants>
std::array<std::uint64_t, 3> octets_after(SharedBus& b, int frames, std::array<std::uint32_t, 3> sizes, Wants&& wants) {
  std::array<std::uint64_t, 3> sent{};
  for (int i = 0; i < frames; ++i) {
    const std::size_t place = b.first(wants);
    b.carry(b.next(), place, sizes[place]);
    sent[place] += sizes[place];
  }
  return sent;
}

TEST(SharedBus, IsBusyForTheTimeOfAFrame) {
  SharedBus b = bus();
  EXPECT_TRUE(b.free(Instant{}));
  b.carry(Instant{1'000}, 0, 1000);
  EXPECT_EQ(b.next(), (Instant{81'000}));
  EXPECT_FALSE(b.free(Instant{80'999}));
  EXPECT_TRUE(b.free(Instant{81'000}));
}

TEST(SharedBus, FramesOfOneSizeTakeTurns) {
  SharedBus b = bus();
  std::vector<std::size_t> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(b.first(all));
    b.carry(b.next(), order.back(), 1000);
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 2, 0, 1, 2, 0}));
}

TEST(SharedBus, OctetsAreSharedOutEvenly) {
  SharedBus b = bus();
  const auto sent = octets_after(b, 13'000, {4000, 1000, 400}, all);
  EXPECT_NEAR(static_cast<double>(sent[1]) / static_cast<double>(sent[0]), 1, 0.001);
  EXPECT_NEAR(static_cast<double>(sent[2]) / static_cast<double>(sent[0]), 1, 0.001);
}

TEST(SharedBus, NobodyIsFirstIfNobodyWantsIt) {
  EXPECT_EQ(bus().first([](PortIndex) { return false; }), SharedBus::kNobody);
}

// What was not asked for is not owed later.
TEST(SharedBus, WhoWasIdleHasNoMoreThanItsPartAfterwards) {
  SharedBus b = bus();
  octets_after(b, 1000, {1000, 1000, 1000}, [](PortIndex p) { return p != kC; });
  const auto sent = octets_after(b, 300, {1000, 1000, 1000}, all);
  for (const std::uint64_t s : sent) EXPECT_NEAR(static_cast<double>(s), 100'000, 1000);
}

}  // namespace
}  // namespace railyard
